import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'

const units =
  'days?|weeks?|months?|years?|hours?|minutes?|seconds?|percent|euros?|dollars?|pounds?|' +
  'tage?n?|wochen?|monate?n?|jahre?n?|stunden?|minuten|prozent|jours?|semaines?|mois|ans?|années?|heures?|' +
  'días?|semanas?|mes|meses|años?|horas?|minutos?|giorn[oi]|settiman[ae]|mes[ei]|ann[oi]|or[ae]|dias?|mês|anos?|' +
  'dag(?:en)?|weken|maand(?:en)?|jaar|jaren|uur|eur|usd|gbp|chf|km|kg|mb|gb|tb'
/** A number with what it counts; a currency may stand before it. */
const amount = new RegExp(
  String.raw`(?:[€$£¥]\s?)?(?<![\p{L}\p{N}_.,:/-])(\d+(?:[.,:’']\d+)*)(?:\s?[%€$£¥°]|[\s-]?(?:${units})(?![\p{L}\p{N}_])|\s?(?:个月|小时|分钟|[天年月日周元円])|(?![\p{L}\p{N}_]))`,
  'giu',
)
const digits = /\d+(?:[.,:’'\u00A0\u202F ]\d{3}(?!\d))*(?:[.,:]\d+)*/g
/** Smaller numbers without a unit count steps and items. */
const maxCount = 10
const maxNumbers = 20

const numberWords = new Map(
  [
    'one two three four five six seven eight nine ten eleven twelve',
    'ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf',
    'un deux trois quatre cinq six sept huit neuf dix onze douze',
    'un dos tres cuatro cinco seis siete ocho nueve diez once doce',
    'un due tre quattro cinque sei sette otto nove dieci undici dodici',
    'um dois três quatro cinco seis sete oito nove dez onze doze',
    'een twee drie vier vijf zes zeven acht negen tien elf twaalf',
    '一 二 三 四 五 六 七 八 九 十 十一 十二',
  ].flatMap((words) => words.split(' ').map((word, index) => [word, `${index + 1}`] as const)),
)
const roundWords = new Map(
  Object.entries({
    a: '1',
    eine: '1',
    einen: '1',
    einem: '1',
    einer: '1',
    une: '1',
    una: '1',
    uma: '1',
    half: '50',
    quarter: '25',
    fourteen: '14',
    fifteen: '15',
    twenty: '20',
    thirty: '30',
    forty: '40',
    fifty: '50',
    sixty: '60',
    ninety: '90',
    hundred: '100',
    thousand: '1000',
    vierzehn: '14',
    fünfzehn: '15',
    zwanzig: '20',
    dreißig: '30',
    vierzig: '40',
    fünfzig: '50',
    sechzig: '60',
    neunzig: '90',
    hundert: '100',
    tausend: '1000',
    quinze: '15',
    vingt: '20',
    trente: '30',
    quarante: '40',
    cinquante: '50',
    cent: '100',
    mille: '1000',
    quince: '15',
    veinte: '20',
    treinta: '30',
    cuarenta: '40',
    cincuenta: '50',
    cien: '100',
    mil: '1000',
    quindici: '15',
    venti: '20',
    trenta: '30',
    cinquanta: '50',
    cento: '100',
    两: '2',
  }),
)

/** The values that a written number may have: `1.500` is a number and a half, or one thousand five hundred. */
function valuesOf(written: string): string[] {
  if (written.includes(':')) return [written.replace(/^0+(?=\d)/, '')]
  const grouped = written.replace(/[.,’'\u00A0\u202F ](?=\d{3}(?!\d))/g, '')
  return [...new Set([grouped, written])].map((text) => {
    const value = Number(text.replace(/,/g, '.').replace(/[’'\s]/g, ''))
    return Number.isFinite(value) ? `${value}` : text
  })
}

/** The answer without what states no amount: code, links, and the numbers of lists. */
const statementsOf = (answer: string): string =>
  answer
    .replace(/(`{3,}|~{3,})[^]*?(?:\1|$)|`[^`\n]*`/g, ' ')
    .replace(/\[\[\d+\]\](?=\()/g, ' ]')
    .replace(/\]\([^)\s]{0,2000}\)|https?:\/\/\S+/g, ' ')
    .replace(/^[^\S\n]{0,20}(?:[>#*-]{1,6}[^\S\n])?[^\S\n]{0,20}\d{1,3}[.)]\s/gm, ' ')

/**
 * Numbers of an answer that stand nowhere in what its model read, as they are written there with their units.
 * @param read all texts that the model read; called only when there are numbers to look for
 */
export function unsupportedNumbers(answer: string, read: () => readonly string[]): readonly string[] {
  const amounts = [...statementsOf(answer).matchAll(amount)].flatMap(([whole, written = '']) => {
    const isCount = whole === written && /^\d+$/.test(written) && Number(written) <= maxCount
    return isCount ? [] : [{ whole: whole.trim(), values: valuesOf(written) }]
  })
  if (amounts.length === 0) return []
  const known = new Set<string>()
  for (const text of read()) {
    // Numbers of results are no facts.
    const content = text.replace(/"document":\s?\d+/g, ' ')
    for (const [written] of content.matchAll(digits)) {
      for (const value of valuesOf(written)) known.add(value)
      for (const part of written.split(/\D+/)) known.add(`${Number(part)}`)
    }
    for (const [word] of content.toLowerCase().matchAll(/\p{Script=Han}|\p{L}+/gu)) {
      const value = numberWords.get(word) ?? roundWords.get(word)
      if (value !== undefined) known.add(value)
    }
  }
  const missing = amounts.filter(({ values }) => !values.some((value) => known.has(value)))
  return [...new Set(missing.map(({ whole }) => whole))].slice(0, maxNumbers)
}

/** All texts of a prompt. */
export function textsOf(prompt: LanguageModelV4Prompt): readonly string[] {
  return prompt.flatMap((message: LanguageModelV4Message): string[] =>
    message.role === 'system'
      ? [message.content]
      : message.content.flatMap((part) => {
          if (part.type === 'text') return [part.text]
          if (part.type !== 'tool-result') return []
          return ['value' in part.output ? textOf(part.output.value) : '']
        }),
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
