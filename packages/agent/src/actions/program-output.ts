import type { PacketBody } from '@inlay/protocol'
import { estimateTokens } from '../prompt/context-window.ts'
import type { CodeOutput } from '../contracts/code-runner.ts'

/** Output of a program: streamed to clients and collected for the model. */
export interface ProgramOutput {
  add(output: CodeOutput): void
  /** Sends output that waits. */
  flush(): void
  text(): { readonly stdout: string; readonly stderr: string }
}

/** Calls a function after a delay, unless the returned function is called before. */
export type Later = (delayMs: number, call: () => void) => () => void

const windowMs = 100
/** A packet of this size is sent at once; well below the maximum line length. */
const packetChars = 65_536

/** The first piece is sent at once, later ones every tenth of a second: a program may print line by line. */
export function createProgramOutput(emit: (packet: PacketBody) => void, later: Later = byTimer): ProgramOutput {
  const all = { stdout: '', stderr: '' }
  let untold = { stdout: '', stderr: '' }
  let cancel: (() => void) | undefined
  const emitPending = (): void => {
    const { stdout, stderr } = untold
    if (stdout === '' && stderr === '') return
    untold = { stdout: '', stderr: '' }
    emit({ type: 'python_tool_delta', stdout, stderr, file_ids: [] })
  }
  const open = (): void => {
    const hasMore = untold.stdout !== '' || untold.stderr !== ''
    emitPending()
    cancel = hasMore ? later(windowMs, open) : undefined
  }
  return {
    add({ stream, text }) {
      all[stream] += text
      for (let at = 0; at < text.length; at += packetChars) {
        untold[stream] += text.slice(at, at + packetChars)
        if (untold.stdout.length + untold.stderr.length >= packetChars) emitPending()
      }
      if (!cancel) open()
    },
    flush() {
      cancel?.()
      cancel = undefined
      emitPending()
    },
    text: () => ({ ...all }),
  }
}

function byTimer(delayMs: number, call: () => void): () => void {
  const timer = setTimeout(call, delayMs)
  return () => clearTimeout(timer)
}

/** Cuts both streams in the middle until their JSON fits; stderr keeps at least a third. */
export function cutOutput(
  { stdout, stderr }: { readonly stdout: string; readonly stderr: string },
  maxTokens: number,
): { readonly stdout: string; readonly stderr: string } {
  let chars = stdout.length + stderr.length
  for (;;) {
    const errors = Math.min(stderr.length, Math.max(Math.floor(chars / 3), chars - stdout.length))
    const cut = { stdout: cutMiddle(stdout, chars - errors), stderr: cutMiddle(stderr, errors) }
    const tokens = estimateTokens(JSON.stringify(cut))
    if (tokens <= maxTokens || chars < 100) return cut
    chars = Math.floor(Math.min(chars * 0.9, (chars * maxTokens) / tokens))
  }
}

/** Both ends matter: the beginning shows what the program does, the end how it finished. */
function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text
  const head = Math.ceil(limit / 2)
  const tail = limit - head
  const left = text.length - limit
  const end = tail > 0 ? text.slice(-tail) : ''
  return `${text.slice(0, head)}\n[${left} characters left out]\n${end}`.toWellFormed()
}
