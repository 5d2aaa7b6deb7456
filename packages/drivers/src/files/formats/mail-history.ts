export interface EarlierMessage {
  /** Sender and date, as the mail states them. */
  readonly heading: string
  /** Lines above it that the heading leaves out, such as its subject. */
  readonly header: string
  readonly text: string
}

/** Messages deeper in a thread stay together. */
const maxEarlier = 30

/** Quotes with an answer below each stay where they are: the answers mean nothing without them. */
export function splitHistory(text: string): { readonly newest: string; readonly earlier: readonly EarlierMessage[] } {
  const earlier: EarlierMessage[] = []
  const { newest, history: first } = splitOnce(text)
  let history = first
  for (let round = 0; history && round < maxEarlier; round++) {
    const { heading, header, text: quoted } = history
    const inner = splitOnce(quoted)
    // Two headings of one message.
    if (inner.newest === '' && inner.history) {
      history = { ...inner.history, header: joined(heading, header, inner.history.header) }
      continue
    }
    earlier.push({ heading, header, text: inner.newest })
    history = inner.history
  }
  if (history) earlier.push(history)
  return { newest, earlier }
}

const joined = (...lines: readonly string[]): string => lines.filter((line) => line.trim() !== '').join('\n')

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
      // Otherwise a quote with answers, as below.
      if (isQuoted || !isQuote(lines[at]!))
        return toSplit(lines.slice(0, header.start), header, isQuoted ? rest.map(unquoted) : rest)
    }
    if (isUnquotedHistory(lines, at)) {
      const { start, heading } = attributionAbove(lines, at + 1)
      return toSplit(lines.slice(0, start), { heading }, lines.slice(at + 1))
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
    return toSplit([...lines.slice(0, start), ...tail], { heading }, lines.slice(at, block.end).map(unquoted))
  }
  return { newest: text.trim(), history: undefined }
}

function toSplit(
  own: readonly string[],
  { heading, header = '' }: { readonly heading: string; readonly header?: string },
  quoted: readonly string[],
): Split {
  const first = quoted.findIndex((line) => line.trim() !== '')
  // Some programs quote the attribution as well.
  const isNamedWithin = heading === '' && first >= 0 && wrote.test(quoted[first]!)
  const history = isNamedWithin
    ? { heading: plain(quoted[first]!), header, text: quoted.slice(first + 1).join('\n') }
    : { heading, header, text: quoted.join('\n') }
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

const isDatedAttribution = (line: string): boolean => wrote.test(line) && isBeginning(plain(line)) && /\d/.test(line)

/** Whether an attribution with its date stands between text of the message and text without the marks of a quote. */
function isUnquotedHistory(lines: readonly string[], at: number): boolean {
  if (!isDatedAttribution(lines[at]!) || !lines.slice(0, at).some(isWritten)) return false
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

/**
 * Copied header lines: at least three different ones of the fields above. Forms and bookings have such lines, too, so an
 * address, a divider above or all of the fields have to show that it was a mail.
 */
function headerAt(lines: readonly string[], from: number) {
  const values = new Map<number, string>()
  /** Lines of sender and date. */
  const inHeading = new Set<number>()
  let end = from
  for (let at = from, blanks = 0; at < lines.length && at < from + 14; at++) {
    const line = plain(lines[at]!)
    if (line === '') {
      // HTML puts a blank line between paragraphs.
      if (++blanks > (values.size === 0 ? 0 : 1)) break
      continue
    }
    const [, name = '', value = ''] = /^([\p{L} ]{1,15}?)\s*[:：]\s*(\S.*)?$/u.exec(line) ?? []
    const field = fields.findIndex((each) => each.test(name))
    if (field < 0) {
      // A long list of receivers goes on in the next line.
      if (values.size === 0 || blanks > 0) break
      continue
    }
    blanks = 0
    if (!values.has(field)) {
      values.set(field, value)
      if (field < 2) inHeading.add(at)
    }
    end = at + 1
  }
  if (!values.has(0) || !values.has(1) || values.size < 3) return undefined
  let above = from
  while (above > 0 && (plain(lines[above - 1]!) === '' || divider.test(lines[above - 1]!))) above--
  const isDivided = lines.slice(above, from).some((line) => divider.test(line))
  const copied = lines.slice(from, end)
  if (!isDivided && values.size < fields.length && !copied.some((line) => line.includes('@'))) return undefined
  const { start, heading: attribution } = attributionAbove(lines, above)
  const isAttributed = isDatedAttribution(attribution)
  const others = copied.filter((_, index) => !inHeading.has(from + index)).map(unquoted)
  return {
    start: isAttributed ? start : above,
    end,
    heading: [values.get(0), values.get(1)].filter(Boolean).join(', '),
    header: joined(isAttributed ? attribution : '', ...others),
  }
}

const maxPlain = 1000

/** Without the marks of Markdown and quotes. */
function plain(line: string): string {
  return line
    .slice(0, maxPlain)
    .replace(/[*`\u200e\u200f]|\\(?=[<>_])/g, '')
    .replace(/^[\s>]+/, '')
    .replace(/\[([^\][]*)\]\([^()]*\)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim()
}
