/** Bounds of an ordered stream. */
export interface OrderedStreamLimits {
  /** Most items worked on at once. */
  readonly items: number
  /** Size of the items worked on at once; a single larger one is still taken. */
  readonly bytes: number
  /**
   * Size of answers kept for a reader who does not read. Generous on purpose: many clients send everything before they
   * read anything, and a bound they reach would make both sides wait for each other.
   */
  readonly answerChars: number
}

/**
 * Answers a stream of items with a stream of texts: items are worked on side by side, answers come in the order of the
 * items. Items are taken only as far as the limits allow, so a fast sender or an idle reader costs bounded memory.
 * `work` is called in the order of the items and must not reject.
 * @param leave called when the reader leaves; has to end the items
 */
export function orderedStream<Item extends { readonly bytes: number }>(
  items: AsyncIterable<Item>,
  work: (item: Item) => Promise<string>,
  limits: OrderedStreamLimits,
  leave: () => void,
): ReadableStream<Uint8Array> {
  const slots: { answer?: string }[] = []
  const encoder = new TextEncoder()
  let inFlight = 0
  let bytesInFlight = 0
  let ready = ''
  let ended = false
  let left = false
  let wakeIntake: (() => void) | undefined
  let wakeReader: (() => void) | undefined

  function settle(slot: { answer?: string }, item: Item, answer: string): void {
    slot.answer = answer
    inFlight--
    bytesInFlight -= item.bytes
    while (slots[0]?.answer !== undefined) ready += slots.shift()!.answer
    wakeIntake?.()
    if (ready !== '') wakeReader?.()
  }

  const isFull = (): boolean =>
    inFlight >= limits.items || bytesInFlight >= limits.bytes || ready.length >= limits.answerChars

  async function takeIn(): Promise<void> {
    try {
      for await (const item of items) {
        if (left) break
        const slot: { answer?: string } = {}
        slots.push(slot)
        inFlight++
        bytesInFlight += item.bytes
        void work(item).then((answer) => settle(slot, item, answer))
        while (isFull() && !left) await new Promise<void>((resolve) => (wakeIntake = resolve))
      }
    } catch {
      // The sender went away in mid-line: what was taken in is answered, as far as anybody still listens.
    }
    ended = true
    wakeReader?.()
  }

  return new ReadableStream<Uint8Array>(
    {
      start() {
        void takeIn()
      },
      async pull(controller) {
        while (ready === '' && !(ended && slots.length === 0)) {
          await new Promise<void>((resolve) => (wakeReader = resolve))
        }
        if (ready === '') return controller.close()
        controller.enqueue(encoder.encode(ready))
        ready = ''
        wakeIntake?.()
      },
      cancel() {
        left = true
        leave()
        wakeIntake?.()
      },
    },
    { highWaterMark: 0 },
  )
}
