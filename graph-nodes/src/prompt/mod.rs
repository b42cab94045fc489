//! Templates for prompts: text with places that are filled from the state.

use std::fmt;
use std::sync::Arc;

use minijinja::{Environment, ErrorKind, UndefinedBehavior};
use serde::Serialize;

/// The only name in each template's environment; nobody sees it but messages of errors.
const NAME: &str = "prompt";

/// A template in Jinja's language (by the crate `minijinja`), compiled once.
///
/// Strict: a name that the values don't have is an error and never an empty string, so that a misspelled field doesn't
/// silently take a sentence out of a prompt. Nothing is escaped, no file is read, and the output is a function of the
/// template and the values alone. Trailing newlines of the template are kept.
///
/// ```
/// use graph_nodes::prompt::Template;
/// use serde_json::json;
///
/// let template = Template::new("You plan trips{% if city %} to {{ city }}{% endif %}.")?;
/// assert_eq!(template.render(json!({"city": "Oslo"}))?, "You plan trips to Oslo.");
/// assert_eq!(template.render(json!({"city": null}))?, "You plan trips.");
///
/// let error = template.render(json!({"town": "Oslo"})).unwrap_err();
/// assert_eq!(error.to_string(), "the template can't be filled, line 1: undefined value; give it every name it uses");
/// # Ok::<(), graph_nodes::prompt::TemplateError>(())
/// ```
#[derive(Clone)]
pub struct Template(Arc<Environment<'static>>);

/// Why a template can't be used.
///
/// ```
/// use graph_nodes::prompt::{Template, TemplateError};
///
/// let error = Template::new("Hello {{ name").unwrap_err();
/// assert!(matches!(error, TemplateError::Syntax { line: 1, .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// It is not in the language of templates.
    #[error("the template is wrong, line {line}: {message}; correct it")]
    Syntax {
        /// Where, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The values don't fit it.
    #[error("the template can't be filled, line {line}: {message}; give it every name it uses")]
    Render {
        /// Where, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The values are no JSON.
    #[error("the values for the template can't be serialised: {message}; correct their `Serialize`")]
    Values {
        /// What is wrong.
        message: String,
    },
}

impl Template {
    /// Compiles a template.
    ///
    /// # Errors
    /// [`TemplateError::Syntax`].
    pub fn new(source: impl Into<String>) -> Result<Self, TemplateError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.set_keep_trailing_newline(true);
        environment
            .add_template_owned(NAME, source.into())
            .map_err(|error| TemplateError::Syntax { line: error.line().unwrap_or(1), message: words(&error) })?;
        Ok(Self(Arc::new(environment)))
    }

    /// Fills the template.
    ///
    /// # Errors
    /// [`TemplateError::Render`] for a name that the values don't have and for a filter that doesn't fit,
    /// [`TemplateError::Values`] for values that can't be serialised.
    pub fn render(&self, values: impl Serialize) -> Result<String, TemplateError> {
        let render = |error: minijinja::Error| match error.kind() {
            ErrorKind::BadSerialization => TemplateError::Values { message: words(&error) },
            _ => TemplateError::Render { line: error.line().unwrap_or(1), message: words(&error) },
        };
        let template = self.0.get_template(NAME).map_err(render)?;
        template.render(values).map_err(render)
    }
}

/// What is wrong, without the name of the template and the line.
fn words(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = self.0.get_template(NAME).map(|template| template.source().to_owned()).unwrap_or_default();
        f.debug_tuple("Template").field(&source).finish()
    }
}
