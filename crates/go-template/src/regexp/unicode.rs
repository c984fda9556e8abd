//! The Unicode classes that Go's `\p{…}` supports.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// The characters of a class by its name in a pattern: a general category, short or long, a script by its long name, `Any`,
/// `Assigned` or `ASCII`. Case, `_`, `-` and blanks are ignored. None if Go has no such class.
pub(super) fn property(name: &str) -> Option<ClassUnicode> {
    let canonical = canonical(name);
    match canonical.as_str() {
        "any" => return Some(ClassUnicode::new([ClassUnicodeRange::new('\0', char::MAX)])),
        "ascii" => return Some(ClassUnicode::new([ClassUnicodeRange::new('\0', '\x7f')])),
        // Surrogates occur in no text.
        "cs" | "surrogate" => return Some(ClassUnicode::empty()),
        _ => {}
    }
    let property = if CATEGORIES
        .split_whitespace()
        .any(|known| known == canonical)
    {
        format!(r"\p{{gc={canonical}}}")
    } else if SCRIPTS.split_whitespace().any(|known| known == canonical) {
        format!(r"\p{{sc={canonical}}}")
    } else {
        return None;
    };
    match regex_syntax::parse(&property).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        HirKind::Literal(literal) => {
            let c = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(ClassUnicode::new([ClassUnicodeRange::new(c, c)]))
        }
        _ => None,
    }
}

fn canonical(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// The general categories and their aliases, as Go's `unicode` package has them (PropertyValueAliases.txt).
const CATEGORIES: &str = "assigned c cc cf cn co l lc ll lm lo lt lu m mc me mn n nd nl no p pc pd pe pf pi po ps s sc sk sm so z zl zp zs \
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
