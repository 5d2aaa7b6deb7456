import type { TransportAnswer } from '../stream/transport.ts'

/** The text of an answer; its beginning when it is long. */
export function readAnswer(answer: TransportAnswer, maxChars: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  return new Promise((resolve, reject) => {
    const source = answer.read({
      push: (bytes) => {
        text += decoder.decode(bytes, { stream: true })
        if (text.length < maxChars) return
        resolve(text)
        source.cancel()
      },
      end: () => resolve(text),
      fail: reject,
    })
  })
}
