import type { Inlay } from '../inlay.ts'

const signals = ['SIGTERM', 'SIGINT'] as const
const open = new Set<Pick<Inlay, 'close'>>()

/**
 * Closes the assistant when the process gets SIGTERM or SIGINT: runs in progress are stored, and their clients are told.
 * The process then ends as it would have without this; where the host handles the signal itself, the host ends it.
 * @returns takes the assistant out again
 * @example closeOnSignals(inlay)
 */
export function closeOnSignals(inlay: Pick<Inlay, 'close'>): () => void {
  // Ahead of the host's listeners: those added with `once` are gone when the later ones are called.
  if (open.size === 0) for (const signal of signals) process.prependListener(signal, closeAll)
  open.add(inlay)
  return () => {
    open.delete(inlay)
    if (open.size === 0) stopListening()
  }
}

function closeAll(signal: NodeJS.Signals): void {
  const isOurs = process.listenerCount(signal) === 1
  const closing = [...open].map((inlay) => inlay.close())
  open.clear()
  // A second signal ends the process at once.
  stopListening()
  void Promise.allSettled(closing).then(() => {
    if (isOurs) process.kill(process.pid, signal)
  })
}

function stopListening(): void {
  for (const signal of signals) process.off(signal, closeAll)
}
