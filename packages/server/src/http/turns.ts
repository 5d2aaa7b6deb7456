import { InlayError } from '@inlay/protocol'
import { nextSlice } from '@inlay/scheduling'
import { readsPerCaller, type ServerSettings } from './settings.ts'

/** Shared instance: nobody reads it, and a stack trace per aborted request would cost more than handling it. */
const ended = new InlayError('BAD_REQUEST', { message: 'The client disconnected before the request was processed.' })
/** A turn ends after this time: longer calls are waiting, or yield in between. */
const maxTurnMs = 20

/**
 * Waits until the caller may start another call; the body is not read before. @returns a function that ends the turn
 */
export async function takeTurn(
  caller: string,
  request: Request,
  { turns, timer }: ServerSettings,
): Promise<() => void> {
  const leave = await turns.enter(caller, request.signal).catch(() => Promise.reject(ended))
  const cancel = timer(maxTurnMs, leave)
  return () => {
    // An aborted call keeps its slot, or a client that aborts at once could start more calls than one that waits.
    if (request.signal.aborted) return
    cancel()
    leave()
  }
}

/** Waits for a read slot. Reads of a caller with many of them under way yield to the event loop and to searches. */
export async function takeReadTurn(
  caller: string,
  request: Request,
  { readTurns, reads }: ServerSettings,
): Promise<() => void> {
  const end = reads.enter(caller)
  const isFlood = reads.counts.get(caller)! > readsPerCaller
  try {
    const leave = await readTurns.enter(caller, request.signal).catch(() => Promise.reject(ended))
    if (isFlood) await nextSlice()
    return () => {
      leave()
      end?.()
    }
  } catch (error) {
    end?.()
    throw error
  }
}
