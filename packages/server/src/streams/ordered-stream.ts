/** Bounds of an ordered stream. */
export interface OrderedStreamLimits {
  /** Most items taken in and not answered, those that wait for an earlier one's answer among them. */
  readonly items: number
  /** Size of the items worked on at once; a single larger one is still taken. */
  readonly bytes: number
  /**
   * Size of answers kept for a reader who does not read. Generous on purpose: many clients send everything before they
   * read anything, and a bound they reach would make both sides wait for each other.
   */
  readonly answerChars: number
}

/** What is under way: places for answers in the order of the items, and what can be sent. */
interface Flow {
  readonly slots: { answer?: string }[]
  bytesInFlight: number
  ready: string
  /** No more items come. */
  ended: boolean
  /** The reader is gone. */
  left: boolean
  wakeIntake?: () => void
  wakeReader?: () => void
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
  const flow: Flow = { slots: [], bytesInFlight: 0, ready: '', ended: false, left: false }
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      start: () => void takeIn(flow, items, work, limits),
      async pull(controller) {
        while (flow.ready === '' && !(flow.ended && flow.slots.length === 0)) {
          await new Promise<void>((resolve) => (flow.wakeReader = resolve))
        }
        if (flow.ready === '') return controller.close()
        controller.enqueue(encoder.encode(flow.ready))
        flow.ready = ''
        flow.wakeIntake?.()
      },
      cancel() {
        flow.left = true
        leave()
        flow.wakeIntake?.()
      },
    },
    { highWaterMark: 0 },
  )
}

async function takeIn<Item extends { readonly bytes: number }>(
  flow: Flow,
  items: AsyncIterable<Item>,
  work: (item: Item) => Promise<string>,
  limits: OrderedStreamLimits,
): Promise<void> {
  try {
    for await (const item of items) {
      if (flow.left) break
      const slot: { answer?: string } = {}
      flow.slots.push(slot)
      flow.bytesInFlight += item.bytes
      void work(item).then((answer) => {
        slot.answer = answer
        settle(flow, item.bytes)
      })
      while (isFull(flow, limits) && !flow.left) await new Promise<void>((resolve) => (flow.wakeIntake = resolve))
    }
  } catch {
    // The sender went away in mid-line: what was taken in is answered, as far as anybody still listens.
  }
  flow.ended = true
  flow.wakeReader?.()
}

function settle(flow: Flow, bytes: number): void {
  flow.bytesInFlight -= bytes
  while (flow.slots[0]?.answer !== undefined) flow.ready += flow.slots.shift()!.answer
  flow.wakeIntake?.()
  if (flow.ready !== '') flow.wakeReader?.()
}

function isFull(flow: Flow, limits: OrderedStreamLimits): boolean {
  return (
    flow.slots.length >= limits.items || flow.bytesInFlight >= limits.bytes || flow.ready.length >= limits.answerChars
  )
}
