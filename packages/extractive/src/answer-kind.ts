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
/** The kind of value that a question asks for, a number or the name of somebody or some place; undefined if unknown. */
export type AnswerKind = 'number' | 'name' | undefined

/** Detects the kind of value a question asks for, in some twenty languages. */
export function answerKindOf(question: string): AnswerKind {
  if (asksNumber.test(question)) return 'number'
  return asksName.test(question) ? 'name' : undefined
}

/** A question without the words that ask for a number, which the answer seldom repeats. */
export const withoutAskingWords = (question: string): string => question.replace(asksNumber, ' ')
