import type { Run } from '@inlay/agent'
import { InlayError, type Principal, type StreamLine } from '@inlay/protocol'
import { packetReply, type Reply, type RouteContext, type StreamFormat } from '@inlay/server'
import { lineOf } from './answer-lines.ts'

type Context = RouteContext<unknown, unknown, unknown> & { readonly caller: Principal }

/** A run on its way to the client that asked for it. One that is not stored ends when that client leaves. */
export interface ClientRun {
  readonly run: Run
  readonly context: Context
  /** Ends the run, which nobody else can read; undefined for one that is stored. */
  readonly leave: (() => void) | undefined
}

export function runForClient(run: Run, isStored: boolean, context: Context): ClientRun {
  if (isStored) return { run, context, leave: undefined }
  const { parts, caller, request } = context
  const leave = (): void => {
    if (!run.finished) void parts.agent.stop(run.sessionId, caller).catch(() => {})
  }
  // Nothing reads the reply to a client that left before it.
  if (request.signal.aborted) leave()
  request.signal.addEventListener('abort', leave, { once: true })
  return { run, context, leave }
}

/** @param label what is sent, for the log */
export function streamToClient({ run, context, leave }: ClientRun, format: StreamFormat, label: string): Reply {
  const leavable: Run = {
    ...run,
    tail: undefined,
    read(cursor, signal) {
      if (leave) signal?.addEventListener('abort', leave, { once: true })
      return run.read(cursor, signal)
    },
  }
  return packetReply(leave ? leavable : run, context, { format, label })
}

/**
 * Reads a run to its end, unless the client leaves or its key ends.
 * @param take gets each line, and undefined behind the last; throws the error of the answer
 */
export async function readWhole(
  { run, context: { request, watchKey }, leave }: ClientRun,
  take: (line: StreamLine | undefined) => void,
): Promise<void> {
  const over = new AbortController()
  void watchKey(() => over.abort(new InlayError('INVALID_TOKEN')), over.signal)
  const signal = AbortSignal.any([request.signal, over.signal])
  try {
    for await (const entries of run.read(0, signal)) for (const entry of entries) take(lineOf(entry))
    signal.throwIfAborted()
    take(undefined)
  } finally {
    over.abort()
    leave?.()
  }
}
