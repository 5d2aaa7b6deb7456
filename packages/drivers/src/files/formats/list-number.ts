const roman = { m: 1000, cm: 900, d: 500, cd: 400, c: 100, xc: 90, l: 50, xl: 40, x: 10, ix: 9, v: 5, iv: 4, i: 1 }

function romanNumber(value: number): string {
  let rest = value
  let text = ''
  for (const [sign, worth] of Object.entries(roman)) for (; rest >= worth; rest -= worth) text += sign
  return text
}

const alphabets: Readonly<Record<string, string>> = {
  lowerLetter: 'abcdefghijklmnopqrstuvwxyz',
  russianLower: 'абвгдежзиклмнопрстуфхцчшщыэюя',
  russianUpper: 'АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ',
  hebrew2: 'אבגדהוזחטיכלמנסעפצקרשת',
  arabicAlpha: 'أبتثجحخدذرزسشصضطظعغفقكلمنهوي',
  ganada: '가나다라마바사아자차카타파하',
  aiueo: 'ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜｦﾝ',
  aiueoFullWidth: 'アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン',
  ideographTraditional: '甲乙丙丁戊己庚辛壬癸',
  ideographZodiac: '子丑寅卯辰巳午未申酉戌亥',
}

const hanDigits = '〇一二三四五六七八九'

function hanNumber(value: number): string {
  const digits = Array.from(String(value), Number)
  const [units = 0, tens = 0, hundreds = 0] = digits.toReversed()
  if (value > 999 || value === 0) return digits.map((digit) => hanDigits[digit]).join('')
  const ten = value < 10 ? '' : value < 20 ? '十' : tens === 0 ? '〇' : `${hanDigits[tens]}十`
  return (
    (hundreds === 0 ? '' : `${hanDigits[hundreds]}百`) +
    (units === 0 && tens === 0 ? '' : ten) +
    (units === 0 ? '' : hanDigits[units])
  )
}

function ordinal(value: number): string {
  const rule: string = new Intl.PluralRules('en', { type: 'ordinal' }).select(value)
  return `${value}${{ one: 'st', two: 'nd', few: 'rd' }[rule] ?? 'th'}`
}

/** Beyond, programs write plain numbers, or signs that repeat themselves thirty times. */
const maxLetters = 30
const maxRoman = 5000

/** As Word shows it. @param format by Word's names, e.g. `lowerRoman`; unknown formats are decimal */
export function numberText(value: number, format: string): string {
  const letters = alphabets[format]
  if (letters !== undefined) {
    const signs = Array.from(letters)
    const times = Math.ceil(value / signs.length)
    return value < 1 || times > maxLetters ? String(value) : signs[(value - 1) % signs.length]!.repeat(times)
  }
  switch (format) {
    case 'none':
      return ''
    case 'upperLetter':
      return numberText(value, 'lowerLetter').toUpperCase()
    case 'lowerRoman':
      return value < 1 || value > maxRoman ? String(value) : romanNumber(value)
    case 'upperRoman':
      return numberText(value, 'lowerRoman').toUpperCase()
    case 'decimalZero':
      return String(value).padStart(2, '0')
    case 'ordinal':
      return ordinal(value)
    case 'numberInDash':
      return `- ${value} -`
    case 'decimalEnclosedCircle':
    case 'decimalEnclosedCircleChinese':
      return value >= 1 && value <= 20 ? String.fromCodePoint(0x245f + value) : String(value)
    case 'decimalFullWidth':
    case 'decimalFullWidth2':
      return String(value).replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
    case 'chineseCounting':
    case 'chineseCountingThousand':
    case 'taiwaneseCounting':
    case 'taiwaneseCountingThousand':
    case 'japaneseCounting':
      return hanNumber(value)
    case 'ideographDigital':
      return Array.from(String(value), (digit) => hanDigits[Number(digit)] ?? digit).join('')
    default:
      return String(value)
  }
}

/** The number of an item for Markdown's own lists: `4.` and `4)`, nothing else. */
export function listNumber(label: string): number | undefined {
  const [, digits] = /^(\d{1,9})[.)]$/.exec(label) ?? []
  return digits === undefined ? undefined : Number(digits)
}
