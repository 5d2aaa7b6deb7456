import type { Inlay } from '../inlay.ts'

const signals = ['SIGTERM', 'SIGINT'] as const
const open = new Set<Pick<Inlay, 'close'>>()

/**
 * Closes the assistant when the process receives SIGTERM or SIGINT: running answers are stored, and their clients are
 * notified. The process then ends as it would have without this; if the host handles the signal itself, the host has to
 * end it.
 * @returns a function that stops this
 * @example closeOnSignals(inlay)
 */
export function closeOnSignals(inlay: Pick<Inlay, 'close'>): () => void {
  // Before the host's listeners, since listeners added with `once` are already removed when later ones run.
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
