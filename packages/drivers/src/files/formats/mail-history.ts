/** An earlier message that a mail repeats. */
export interface EarlierMessage {
  /** Who wrote it and when, as the mail says. */
  readonly heading: string
  readonly text: string
}

/** The message itself, and what it repeats of earlier ones, the latest first. */
export interface MailText {
  readonly newest: string
  readonly earlier: readonly EarlierMessage[]
}

/** Messages deeper in a thread are left out. */
const maxEarlier = 30

/**
 * Parts a message from the earlier ones below or above it, in Markdown or plain text. Quotes that are answered one by one
 * stay where they are: the answers mean nothing without them.
 */
export function splitHistory(text: string): MailText {
  const earlier: EarlierMessage[] = []
  let { newest, history } = splitOnce(text)
  const first = newest
  while (history && earlier.length < maxEarlier) {
    const { heading, text: quoted } = history
    ;({ newest, history } = splitOnce(quoted))
    if (newest !== '') earlier.push({ heading, text: newest })
  }
  // A mail that is passed on without a word.
  if (first === '' && earlier.length > 0) return { newest: earlier[0]!.text, earlier: earlier.slice(1) }
  return { newest: first, earlier }
}

interface Split {
  newest: string
  history: EarlierMessage | undefined
}

function splitOnce(text: string): Split {
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const header = headerAt(lines, at)
    if (header) {
      // Some programs quote what follows, most do not.
      const rest = lines.slice(header.end)
      const isQuoted = rest.every((line) => line.trim() === '' || isQuote(line))
      return toSplit(lines.slice(0, header.start), header.heading, isQuoted ? rest.map(unquoted) : rest)
    }
    if (isUnquotedHistory(lines, at)) {
      const { start, heading } = attributionAbove(lines, at + 1)
      return toSplit(lines.slice(0, start), heading, lines.slice(at + 1))
    }
    if (!isQuote(lines[at]!)) continue
    const block = blockAt(lines, at)
    const tail = lines.slice(block.end)
    // Answers between quotes.
    if (tail.some(isQuote)) return { newest: text.trim(), history: undefined }
    const { start, heading } = attributionAbove(lines, at)
    // A short quote in the midst of a message belongs to it.
    const hasBoth = lines.slice(0, start).some(isWritten) && tail.some(isWritten)
    if (hasBoth && heading === '') return { newest: text.trim(), history: undefined }
    return toSplit([...lines.slice(0, start), ...tail], heading, lines.slice(at, block.end).map(unquoted))
  }
  return { newest: text.trim(), history: undefined }
}

function toSplit(own: readonly string[], heading: string, quoted: readonly string[]): Split {
  const first = quoted.findIndex((line) => line.trim() !== '')
  // Some programs quote the attribution as well.
  const isNamedWithin = heading === '' && first >= 0 && wrote.test(quoted[first]!)
  const history = isNamedWithin
    ? { heading: plain(quoted[first]!), text: quoted.slice(first + 1).join('\n') }
    : { heading, text: quoted.join('\n') }
  return { newest: own.join('\n').trim(), history }
}

const isQuote = (line: string): boolean => /^\s{0,3}\\?>/.test(line)
const isWritten = (line: string): boolean => line.trim() !== '' && !isQuote(line)
const unquoted = (line: string): string => line.replace(/^\s{0,3}\\?> ?/, '')

/** Lines of a quote, with blank lines between them. */
function blockAt(lines: readonly string[], from: number): { end: number } {
  let end = from
  for (let at = from; at < lines.length && (isQuote(lines[at]!) || lines[at]!.trim() === ''); at++)
    if (isQuote(lines[at]!)) end = at + 1
  return { end }
}

/** "On 3 May Ann wrote:" in the languages that programs write it. */
const wrote =
  /(?:\b(?:wrote|writes|schrieb|écrit|escribió|escreveu|ha scritto|schreef|skrev|napisał(?:\(a\))?|kirjoitti|написал(?:а|\(а\))?|yazdı)\b|写道|のメッセージ)[^:：]{0,80}[:：]\**\s*$/iu

/** The attribution before a quote, of up to three lines. */
function attributionAbove(lines: readonly string[], quote: number): { start: number; heading: string } {
  let last = quote - 1
  while (last >= 0 && lines[last]!.trim() === '') last--
  if (last < 0 || !isAttribution(lines[last]!)) return { start: quote, heading: '' }
  let start = last
  while (start > 0 && last - start < 2 && lines[start - 1]!.trim() !== '' && !isBeginning(lines[start]!)) start--
  const heading = lines.slice(start, last + 1).join(' ')
  return { start, heading: plain(heading) }
}

/** Whether an attribution with its date stands above text without the marks of a quote. */
function isUnquotedHistory(lines: readonly string[], at: number): boolean {
  const line = lines[at]!
  if (!wrote.test(line) || !isBeginning(plain(line)) || !/\d/.test(line)) return false
  const next = lines.slice(at + 1).find((each) => each.trim() !== '')
  return next !== undefined && !isQuote(next)
}

/** Some programs name person and time alone. */
const isAttribution = (line: string): boolean =>
  wrote.test(line) || (/[:：]\**\s*$/.test(line) && (/@/.test(line) || /\d{1,2}[:.]\d{2}/.test(line)))

const isBeginning = (line: string): boolean => /^\W*(?:on|am|le|el|em|il|op|den|w dniu|\d{1,4}[-./])\b/iu.test(line)

/** Names of the header lines that programs copy above a mail that they repeat. */
const fields: readonly RegExp[] = [
  /^(?:from|von|de|da|van|från|od|от|kimden|发件人|差出人)$/iu,
  /^(?:sent|date|gesendet|datum|envoyé|enviado(?: el)?|fecha|data|inviato|verzonden|skickat|wysłano|дата|отправлено|tarih|发送时间|日期|送信日時)$/iu,
  /^(?:to|an|à|para|a|aan|till|do|кому|kime|cc|收件人|宛先)$/iu,
  /^(?:subject|betreff|objet|asunto|assunto|oggetto|onderwerp|ämne|temat|тема|konu|主题|件名)$/iu,
]

/** A line such as `-----Original Message-----` or a rule. */
const divider =
  /^\W*(?:(?:original|forwarded) message|begin forwarded message|ursprüngliche nachricht|weitergeleitete nachricht|message (?:d'origine|transféré)|mensaje (?:original|reenviado)|messaggio (?:originale|inoltrato)|oorspronkelijk bericht)\W*$|^\s*[_\-*]{8,}\s*$|^\* \* \*$|^---$/iu

interface Header {
  readonly start: number
  readonly end: number
  readonly heading: string
}

/** Copied header lines: at least three different ones of the fields above, in as many lines. */
function headerAt(lines: readonly string[], from: number): Header | undefined {
  const values = new Map<number, string>()
  let end = from
  for (let at = from, blanks = 0; at < lines.length && at < from + 14; at++) {
    const line = plain(lines[at]!)
    if (line === '') {
      // HTML puts a blank line between paragraphs.
      if (++blanks > (values.size === 0 ? 0 : 1)) break
      continue
    }
    const [, name = '', value = ''] = /^([\p{L} ]{1,15}?)\s*[:：]\s*(.*)$/u.exec(line) ?? []
    const field = fields.findIndex((each) => each.test(name))
    if (field < 0) {
      // A long list of receivers goes on in the next line.
      if (values.size === 0 || blanks > 0) break
      continue
    }
    blanks = 0
    if (!values.has(field)) values.set(field, value)
    end = at + 1
  }
  if (!values.has(0) || !values.has(1) || values.size < 3) return undefined
  let start = from
  const isAbove = (line: string): boolean => plain(line) === '' || divider.test(line) || wrote.test(line)
  for (let at = from - 1; at >= 0 && isAbove(lines[at]!); at--) start = at
  return { start, end, heading: [values.get(0), values.get(1)].filter(Boolean).join(', ') }
}

/** Without the marks of Markdown and quotes. */
function plain(line: string): string {
  return line
    .replace(/[*`\u200e\u200f]|\\(?=[<>_])/g, '')
    .replace(/^[\s>]+/, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
}
