export interface OrderedStreamLimits {
  /** Maximum number of unanswered items, including answered items that wait behind an earlier one. */
  readonly items: number
  /** Maximum total size of items being processed; a single larger item is still accepted. */
  readonly bytes: number
  /**
   * Maximum size of buffered answers. Generous on purpose: many clients send everything before they read, and reaching
   * the limit would deadlock both sides.
   */
  readonly answerChars: number
}

/** State of the stream: answers in the order of the items, and output ready to send. */
interface Flow {
  readonly slots: { answer?: string }[]
  bytesInFlight: number
  ready: string
  /** No more items will come. */
  ended: boolean
  /** The reader has disconnected. */
  left: boolean
  wakeIntake?: () => void
  wakeReader?: () => void
}

/**
 * Answers a stream of items with a stream of texts. Items are processed concurrently, answers keep the order of the
 * items. Items are read only within the limits, so a fast sender or an idle reader uses bounded memory.
 * `work` is called in the order of the items and must not reject.
 * @param leave called when the reader disconnects; must end the items
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
    // The sender disconnected in the middle of a line: complete items are still answered.
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
