//! Dependencies of nodes, found by their type.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::Arc;

use crate::name::Name;

/// A resource that a node asks for.
///
/// ```
/// use graph_engine::Need;
///
/// assert_eq!(Need::of::<String>().type_name(), "alloc::string::String");
/// ```
#[derive(Clone, Copy)]
pub struct Need {
    id: TypeId,
    name: fn() -> &'static str,
}

impl Need {
    /// The need for a `T`, sized or not.
    #[must_use]
    pub fn of<T: ?Sized + Send + Sync + 'static>() -> Self {
        Self { id: TypeId::of::<Arc<T>>(), name: type_name::<T> }
    }

    /// The type's name as rustc writes it.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        (self.name)()
    }
}

impl PartialEq for Need {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Need {}

impl fmt::Debug for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.type_name())
    }
}

/// Values by type, a later one in front of an earlier one of the same type. Most turns have none of their own, and
/// allocate nothing for them.
#[derive(Clone, Default)]
pub(crate) struct Resources(Option<Arc<Values>>);

type Values = Vec<(TypeId, Arc<dyn Any + Send + Sync>)>;

impl Resources {
    fn all(&self) -> &[(TypeId, Arc<dyn Any + Send + Sync>)] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }

    fn all_mut(&mut self) -> &mut Values {
        Arc::make_mut(self.0.get_or_insert_default())
    }

    /// Adds or replaces a value.
    pub(crate) fn insert<T: ?Sized + Send + Sync + 'static>(&mut self, value: Arc<T>) {
        let id = TypeId::of::<Arc<T>>();
        let all = self.all_mut();
        all.retain(|(known, _)| *known != id);
        // The pointer is wrapped once more, because a pointer to an unsized value is no `Any` itself.
        all.push((id, Arc::new(value)));
    }

    pub(crate) fn get<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let id = TypeId::of::<Arc<T>>();
        let (_, value) = self.all().iter().find(|(known, _)| *known == id)?;
        value.downcast_ref::<Arc<T>>().cloned()
    }

    /// The first of these needs that no value meets.
    pub(crate) fn missing<'a>(&self, needs: impl IntoIterator<Item = (&'a Name, Need)>) -> Option<(Name, Need)> {
        let (node, need) = needs.into_iter().find(|(_, need)| self.all().iter().all(|(known, _)| *known != need.id))?;
        Some((node.clone(), need))
    }

    /// Adds all values of another set, in front of equal types here.
    pub(crate) fn extend(&mut self, other: &Self) {
        if other.all().is_empty() {
            return;
        }
        let all = self.all_mut();
        all.retain(|(known, _)| other.all().iter().all(|(id, _)| id != known));
        all.extend(other.all().iter().cloned());
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resources({})", self.all().len())
    }
}
