/** Matches whole words in any script; `\b` only supports ASCII letters. */
const words = (list: string): string => `(?<![\\p{L}\\p{M}])(?:${list})(?![\\p{L}\\p{M}])`

const asksNumber = new RegExp(
  [
    '^(?:since |until |and )?when(?!\\p{L})',
    words(
      'numbers? (?:of|for)|how (?:many|much|long|often|old|far|big|large|high|fast|tall|wide|deep)|what (?:number|percent|percentage|amount|year|date|day|age)|(?:in )?which year|' +
        'wie ?viele?|wie (?:lange|hoch|oft|alt|groß|weit|schnell)|wann|jahr|prozent|' +
        'cuánt[oa]s?|cuándo|(?:qué|cuál) (?:año|porcentaje|fecha)|combien|quand|quel(?:le)? (?:année|date|pourcentage)|' +
        'quant[oaie]|quando|quantos|quantas|hoeveel|wanneer|hur (?:många|mycket|länge)|när|hvor (?:mange|meget)|hvornår|' +
        'kiedy|сколько|когда|скольк\\p{L}+|в каком году|kaç|ne zaman|ne kadar|hangi yıl|câți|câte|cât|când|' +
        'bao nhiêu|mấy|khi nào|năm nào|πόσ\\p{L}+|πότε|كم|متى|कितन\\p{L}\\p{M}*|कब',
    ),
    '多少|几|幾|何时|何時|哪一?年|什么时候|多久|多长|多大|比例|何人|何年|いつ|いくつ|몇|언제|얼마|กี่|เท่าไ|เมื่อไ|ปีใด',
  ].join('|'),
  'iu',
)
const asksName = new RegExp(
  [
    `^(?:${words(
      'who|whose|whom|which (?:person|player|team)|where|wer|wem|wen|wessen|wo|quién(?:es)?|dónde|qui|où|chi|dove|quem|onde|waar|vem|var|hvem|hvor|kto|gdzie|кто|кого|кем|где|kim|kimin|nerede|cine|unde|ai|ở đâu|ποι\\p{L}+|πού|من|أين|कौन|किस\\p{L}*|कहाँ',
    )})`,
    '谁|誰|哪位|哪里|何处|哪儿|どこ|누구|어디|ใคร|ที่ไหน',
  ].join('|'),
  'iu',
)
const number = new RegExp(
  [
    '\\p{N}',
    // Not the pronoun of `if you have none, make one`.
    words('one(?=[ -]\\p{L})'),
    words(
      'two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundreds?|thousands?|millions?|billions?|half|twice|once|percent|' +
        '(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|' +
        '(?:drei|vier|fünf|sech|sieb|acht|neun)zehn|\\p{L}*(?:(?:zwan|vier|fünf|sech|sieb|acht|neun)zig|dreißig)|' +
        'zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|hundert|tausend|hälfte|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|cien|mitad|' +
        'deux|trois|quatre|cinq|sept|huit|neuf|dix|mille|moitié|tre|quattro|cinque|otto|nove|dieci|metà',
    ),
    // Months and days of the week answer `when`.
    '(?<!\\p{L})(?:January|February|March|April|June|July|August|September|October|November|December|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|' +
      'Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|(?:Mon|Diens|Donners|Frei|Sams|Sonn)tags?|Mittwochs?|' +
      'enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|lunes|martes|miércoles|jueves|viernes|sábado|domingo|' +
      'janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)(?!\\p{L})',
    '[一二三四五六七八九十百千万亿两半]',
  ].join('|'),
  'iu',
)
/** The kind of value that a question asks for, a number or the name of somebody or some place; undefined if unknown. */
export type AnswerKind = 'number' | 'name' | undefined

/** Detects the kind of value a question asks for, in some twenty languages. */
export function answerKindOf(question: string): AnswerKind {
  if (asksNumber.test(question)) return 'number'
  return asksName.test(question) ? 'name' : undefined
}

/** Whether a text contains a number, also as a word, or the name of a month or day. */
export const hasNumber = (text: string): boolean => number.test(text)
