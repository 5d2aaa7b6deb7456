/** Reads Server-Sent Events out of bytes that are cut anywhere. */
export interface EventReader {
  push(bytes: Uint8Array): void
}

/**
 * Makes a reader that hands on the data of each event, its lines joined by `\n`. Comments and other fields are left
 * out, and so is an event that its blank line did not end.
 */
export function createEventReader(onData: (data: string) => void): EventReader {
  const decoder = new TextDecoder()
  let held = ''
  let endsInReturn = false
  let data: string | undefined

  const takeLine = (line: string): void => {
    if (line === '') {
      const whole = data
      data = undefined
      if (whole !== undefined) onData(whole)
    } else if (line.startsWith('data:')) {
      const value = line.slice(line.charCodeAt(5) === 0x20 ? 6 : 5)
      data = data === undefined ? value : `${data}\n${value}`
    } else if (line === 'data') data = data === undefined ? '' : `${data}\n`
  }
  return {
    push: (bytes) => {
      let text = decoder.decode(bytes, { stream: true })
      if (text === '') return
      // A line may end in CR LF, cut between the two.
      if (endsInReturn && text.startsWith('\n')) text = text.slice(1)
      endsInReturn = text.endsWith('\r')
      if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n')
      // What is held has no line end in it.
      let end = text.indexOf('\n')
      if (end === -1) {
        held += text
        return
      }
      takeLine(held + text.slice(0, end))
      let start = end + 1
      for (end = text.indexOf('\n', start); end !== -1; end = text.indexOf('\n', start)) {
        takeLine(text.slice(start, end))
        start = end + 1
      }
      held = text.slice(start)
    },
  }
}
