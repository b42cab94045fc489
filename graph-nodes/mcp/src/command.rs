//! The program of a server that is started as a child.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::process::Stdio;

use process_wrap::tokio::CommandWrap;

use crate::text::Secrets;

/// What every child gets of the environment of this program.
#[cfg(not(windows))]
const ALWAYS: &[&str] = &["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];
#[cfg(windows)]
const ALWAYS: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

/// A program, its arguments and its environment: the server is started as a child, and again when it ends.
///
/// The child sees little of this program's environment: `HOME`, `LANG`, `LOGNAME`, `PATH`, `SHELL`, `TERM`, `TMPDIR`
/// and `USER` (on Windows the variables that programs there don't start without), what [`inherit`](Self::inherit) names,
/// and what [`env`](Self::env) and [`secret_env`](Self::secret_env) set.
///
/// Arguments and values are never shown by `Debug`; what must not be in the list of processes belongs into
/// [`secret_env`](Self::secret_env).
///
/// ```
/// use graph_nodes_mcp::Command;
///
/// let command = Command::new("npx").args(["-y", "some-server"]).secret_env("TOKEN", "s3cret-s3cret");
/// let shown = format!("{command:?}");
/// assert_eq!(shown, r#"Command { program: "npx", arguments: 2, env: ["TOKEN"] }"#);
/// ```
#[derive(Clone)]
#[must_use = "a command does nothing until a server is connected"]
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    inherited: Vec<OsString>,
    folder: Option<PathBuf>,
    pub(crate) secrets: Secrets,
}

impl Command {
    /// A program by its path, or by a name that is looked for in `PATH`.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            inherited: Vec::new(),
            folder: None,
            secrets: Secrets::default(),
        }
    }

    /// Adds one argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of the child's environment.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Sets a variable whose value nobody may see. Where the server prints it, in its error output, its log, an error or a
    /// result, it is replaced by `[secret]`, if it has 6 bytes or more.
    pub fn secret_env(mut self, name: impl Into<OsString>, value: impl Into<String>) -> Self {
        let value = value.into();
        self.secrets.add(&value);
        self.env(name, value)
    }

    /// Passes on variables of this program's environment, where they are set.
    pub fn inherit<N: Into<OsString>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.inherited.extend(names.into_iter().map(Into::into));
        self
    }

    /// The folder in which the program runs (default: that of this program).
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// The program, for messages.
    pub(crate) fn program(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// What is started. The child and its own children are one group, so that they end together.
    pub(crate) fn wrapped(&self) -> CommandWrap {
        let mut command = tokio::process::Command::new(&self.program);
        command.args(&self.args).env_clear().stderr(Stdio::piped()).kill_on_drop(true);
        let inherited = ALWAYS.iter().map(OsStr::new).chain(self.inherited.iter().map(OsString::as_os_str));
        command.envs(inherited.filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.envs(&self.env);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let mut wrapped = CommandWrap::from(command);
        #[cfg(unix)]
        wrapped.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        wrapped.wrap(process_wrap::tokio::JobObject);
        wrapped
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("arguments", &self.args.len())
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .finish()
    }
}
