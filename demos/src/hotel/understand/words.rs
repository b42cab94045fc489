//! Lists of everyday words that are never a name: of an amenity, of a hotel or
//! of a city.

/// Words that never belong to an amenity.
#[rustfmt::skip]
pub(super) const NO_AMENITY: &[&str] = &[
    "a", "an", "the", "and", "or", "but", "with", "without", "in", "on", "at", "for", "from", "to", "of", "near", "by", "under",
    "below", "over", "above", "please", "thanks", "thank", "you", "i", "we", "it", "me", "my", "our", "us", "is", "are", "be",
    "that", "this", "these", "those", "them", "they", "there", "here", "if", "so", "as", "than", "then", "too", "also", "not", "no",
    "yes", "hotel", "hotels", "room", "rooms", "bed", "beds", "place", "places", "stay", "trip", "night", "nights", "budget",
    "price", "prices", "euro", "euros", "eur", "guest", "guests", "people", "person", "persons", "adult", "adults", "kid", "kids", "child",
    "children", "baby", "wife", "husband", "partner", "friend", "friends", "family", "couple", "parents", "something", "anything",
    "everything", "nothing", "some", "any", "more", "less", "most", "least", "good", "better", "best", "lot", "lots", "few", "bit", "only",
    "just", "maybe", "perhaps", "instead", "actually", "rather", "ideally", "preferably", "possible", "question", "problem", "problems", "preference",
    "preferences", "idea", "look", "need", "want", "like", "would", "could", "can", "should", "must", "have", "has", "had", "do", "does", "make", "change",
    "first", "second", "third", "last", "one", "ones", "two", "three", "option", "options", "offer", "offers", "list", "results", "today", "tomorrow",
    "tonight", "weekend", "week", "weeks", "day", "days", "month", "check", "arriving", "leaving", "until", "till", "around", "about", "between", "max",
    "maximum", "min", "minimum", "cheap", "cheaper", "cheapest", "expensive", "city", "centre", "center", "town", "single", "double", "twin", "suite",
    "amenities", "amenity", "facilities", "extras", "all", "each", "per", "what", "which", "who", "how", "when", "where", "why", "ok", "okay", "hi",
    "hello", "hey", "help", "book", "reserve", "compare", "show", "find", "search", "again", "now", "soon", "later", "earlier", "wait", "sorry", "mean", "girlfriend",
    "boyfriend", "mother", "father", "mum", "mom", "dad", "son", "daughter", "brother", "sister", "colleague", "colleagues", "boss", "distance", "location",
    "up", "down", "out", "off", "will", "am", "i'm", "i'd", "i'll", "we're", "we'd", "we'll", "let's", "it's", "that's", "going", "get", "got", "give",
    "forget", "drop", "skip", "remove", "add", "same", "different", "other", "another", "new", "old", "nice", "great", "cool", "perfect", "fine", "really",
    "total", "visit", "travel", "travelling", "traveling", "reservation", "booking", "voucher", "discount", "deal", "deals", "space", "lower", "higher", "bigger",
    "smaller", "larger", "dates", "date", "person's", "breakfast", "luck", "pleasure", "him", "her", "his", "their", "its", "see", "say", "tell", "next", "tops", "least",
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "monday", "tuesday",
    "wednesday", "thursday", "friday", "saturday", "sunday", "limit", "much", "many", "well", "because", "since", "plus", "who's", "close", "closer", "walking",
    "wonder", "choice", "mind", "plans", "company", "else", "either", "both", "every", "everyone", "somewhere", "anywhere", "way", "difference", "differences",
];

/// Words that never make up a hotel's name alone.
#[rustfmt::skip]
pub(super) const NO_HOTEL: &[&str] = &[
    "a", "an", "the", "it", "that", "this", "these", "those", "them", "they", "one", "ones", "all", "both", "two", "three", "hotel", "hotels", "room",
    "rooms", "stay", "place", "places", "offer", "offers", "option", "options", "result", "results", "something", "anything", "now", "please", "trip", "nights",
    "night", "for", "me", "us", "my", "our", "first", "second", "third", "last", "cheapest", "nearest", "best", "closest", "some", "any", "of", "each", "other", "top", "list",
    "their", "prices", "price", "amenities", "distance", "room", "location", "cost", "costs", "distances", "options", "side", "single", "double", "twin", "suite",
    "family", "every", "everything", "cheap", "nice", "good", "cheaper", "you", "your", "accommodation", "bed", "weekend", "holiday", "break", "away", "ahead", "with", "hi", "yes", "ok", "and",
    "then", "so", "just", "i", "we", "would", "like", "to", "want", "book", "compare", "favourite", "previous", "them", "couple", "more", "different", "another", "few", "table", "there", "here", "look",
    "number", "no", "nr", "final", "choice", "care", "time", "rates", "facilities", "beds", "again", "back", "is", "are", "what", "which", "how", "not", "others", "go", "right", "straight", "already", "pick",
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "can", "let's", "do", "does", "have", "has", "help", "in", "at", "on", "by", "from", "breakfast",
];

/// Words after "in" or "to" that are no city.
#[rustfmt::skip]
pub(super) const NO_CITY: &[&str] = &[
    "i", "i'm", "i'd", "we", "it", "my", "the", "a", "an", "please", "thanks", "hotel", "hotels", "room", "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "spring", "summer", "autumn", "winter", "christmas", "easter", "euro", "euros",
    "eur", "wifi", "spa", "gym", "pool", "bar", "ac", "english", "total", "mind", "case", "advance", "hi", "hello", "yes", "no", "ok", "what", "which", "how", "book", "compare",
    "show", "find", "that", "this", "these", "those", "one", "center", "centre", "town", "city", "family", "double", "single", "twin", "suite", "new", "old", "and",
];

/// Well-known cities without hotels in the catalogue, so that they are known
/// in lower case too. Names that are also everyday words are left out.
#[rustfmt::skip]
pub(super) const OTHER_CITIES: &[&str] = &[
    "berlin", "paris", "london", "rome", "madrid", "barcelona", "munich", "hamburg", "cologne", "frankfurt", "amsterdam", "rotterdam", "brussels", "antwerp", "bruges",
    "copenhagen", "stockholm", "helsinki", "bergen", "gothenburg", "malmo", "aarhus", "reykjavik", "dublin", "glasgow", "manchester", "liverpool", "belfast", "cardiff",
    "prague", "brno", "budapest", "warsaw", "krakow", "cracow", "gdansk", "vilnius", "riga", "tallinn", "salzburg", "graz", "innsbruck", "linz", "zurich", "geneva", "basel", "bern",
    "milan", "venice", "florence", "naples", "turin", "bologna", "palermo", "pisa", "verona", "seville", "valencia", "granada", "malaga", "bilbao", "faro", "coimbra", "braga", "funchal", "madeira",
    "marseille", "lyon", "bordeaux", "toulouse", "strasbourg", "athens", "thessaloniki", "istanbul", "ankara", "bucharest", "sofia", "belgrade", "zagreb", "dubrovnik", "ljubljana",
    "bratislava", "sarajevo", "kyiv", "kiev", "moscow", "tokyo", "osaka", "nara", "hiroshima", "sapporo", "nagoya", "kobe", "fukuoka", "seoul", "busan", "beijing", "shanghai", "hong kong",
    "taipei", "singapore", "bangkok", "hanoi", "manila", "jakarta", "bali", "delhi", "new delhi", "mumbai", "dubai", "abu dhabi", "doha", "cairo", "marrakech", "marrakesh", "casablanca", "tunis", "nairobi",
    "cape town", "johannesburg", "lagos", "new york", "new york city", "nyc", "los angeles", "san francisco", "chicago", "boston", "miami", "seattle", "las vegas", "washington", "toronto", "montreal", "vancouver",
    "mexico city", "havana", "lima", "bogota", "santiago", "buenos aires", "rio de janeiro", "sao paulo", "sydney", "melbourne", "brisbane", "auckland", "wellington", "tel aviv", "jerusalem",
    "trondheim", "stavanger", "tromso", "aberdeen", "inverness", "dundee", "leipzig", "dresden", "dusseldorf", "stuttgart", "nuremberg", "hannover", "bremen", "nice", "york", "bath", "oxford", "cambridge", "brighton", "bristol", "leeds",
];
