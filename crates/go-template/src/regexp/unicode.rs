//! The Unicode classes that Go's `\p{…}` supports.

/// How `regex-syntax` spells a class that Go has by this name: a general category, short or long, a script by its long name, `Any`,
/// `Assigned` or `ASCII`, or all others with `^` before it. Case, `_`, `-` and blanks are ignored.
pub(super) fn property(name: &str, is_negated: bool) -> Option<String> {
    let bare = name.strip_prefix('^').unwrap_or(name);
    let mut is_negated = is_negated != (bare.len() != name.len());
    let mut canonical: String = bare
        .chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if matches!(canonical.as_str(), "cs" | "surrogate") {
        // Surrogates occur in no text.
        canonical = "any".to_owned();
        is_negated = !is_negated;
    }
    let is_in = |names: &str| names.split_whitespace().any(|known| known == canonical);
    let kind = if is_in(CATEGORIES) {
        "gc"
    } else if is_in(SCRIPTS) {
        "sc"
    } else {
        return None;
    };
    let letter = if is_negated { 'P' } else { 'p' };
    Some(format!(r"\{letter}{{{kind}={canonical}}}"))
}

/// The general categories and their aliases, as Go's `unicode` package has them (PropertyValueAliases.txt), and the classes of many.
const CATEGORIES: &str = "any ascii assigned c cc cf cn co l lc ll lm lo lt lu m mc me mn n nd nl no p pc pd pe pf pi po ps s sc sk sm so z zl zp zs \
    casedletter closepunctuation combiningmark connectorpunctuation control cntrl currencysymbol dashpunctuation decimalnumber \
    digit enclosingmark finalpunctuation format initialpunctuation letter letternumber lineseparator lowercaseletter mark \
    mathsymbol modifierletter modifiersymbol nonspacingmark number openpunctuation other otherletter othernumber \
    otherpunctuation othersymbol paragraphseparator privateuse punctuation punct separator spaceseparator spacingmark symbol \
    titlecaseletter unassigned uppercaseletter";

/// The scripts of Unicode 15 by their long names (Scripts.txt).
const SCRIPTS: &str = "adlam ahom anatolianhieroglyphs arabic armenian avestan balinese bamum bassavah batak bengali bhaiksuki bopomofo \
    brahmi braille buginese buhid canadianaboriginal carian caucasianalbanian chakma cham cherokee chorasmian common \
    coptic cuneiform cypriot cyprominoan cyrillic deseret devanagari divesakuru dogra duployan egyptianhieroglyphs elbasan \
    elymaic ethiopic georgian glagolitic gothic grantha greek gujarati gunjalagondi gurmukhi han hangul hanifirohingya \
    hanunoo hatran hebrew hiragana imperialaramaic inherited inscriptionalpahlavi inscriptionalparthian javanese kaithi \
    kannada katakana kawi kayahli kharoshthi khitansmallscript khmer khojki khudawadi lao latin lepcha limbu lineara \
    linearb lisu lycian lydian mahajani makasar malayalam mandaic manichaean marchen masaramgondi medefaidrin meeteimayek \
    mendekikakui meroiticcursive meroitichieroglyphs miao modi mongolian mro multani myanmar nabataean nagmundari \
    nandinagari newtailue newa nko nushu nyiakengpuachuehmong ogham olchiki oldhungarian olditalic oldnortharabian \
    oldpermic oldpersian oldsogdian oldsoutharabian oldturkic olduyghur oriya osage osmanya pahawhhmong palmyrene \
    paucinhau phagspa phoenician psalterpahlavi rejang runic samaritan saurashtra sharada shavian siddham signwriting \
    sinhala sogdian sorasompeng soyombo sundanese sylotinagri syriac tagalog tagbanwa taile taitham taiviet takri tamil \
    tangsa tangut telugu thaana thai tibetan tifinagh tirhuta toto ugaritic vai vithkuqi wancho warangciti yezidi yi \
    zanabazarsquare";
