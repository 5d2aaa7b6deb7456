import { createCitableDocuments } from '@inlay/agent/internal/citations/citable-documents'
import type { ActionTurn, TurnFiles } from '@inlay/agent'
import type { StoredFile } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import type { PacketBody } from '@inlay/protocol'
import { ana } from './setting.ts'

/** A turn for one call of an action, and the packets it sent. */
export function newTurn(more: Partial<ActionTurn> = {}): { readonly turn: ActionTurn; readonly packets: PacketBody[] } {
  const packets: PacketBody[] = []
  const range = createCitableDocuments().openStep()(0)
  const turn: ActionTurn = {
    caller: ana,
    sessionId: 's',
    messageId: 3,
    userMessage: 'the question',
    toolCallId: 'c',
    signal: new AbortController().signal,
    emit: (packet) => void packets.push(packet),
    cite: (documents) => range.cite(documents),
    ...more,
  }
  return { turn, packets }
}

/** A file with what it says; its ids are `<name>-own` and `<name>-file`. */
export interface HeldFile extends Partial<StoredFile> {
  readonly name: string
  /** Absent: it cannot be read. */
  readonly text?: string
}

/** Files as a turn sees them, held in memory; kept ones are listed from then on. */
export function heldFiles(...held: readonly HeldFile[]): TurnFiles {
  const all = held.map(({ text, ...file }) => ({ file: toStored(file), text, bytes: new TextEncoder().encode(text) }))
  const find = (id: string) => {
    const match = all.find(({ file }) => file.id === id || file.fileId === id)
    if (!match) throw new InlayError('NOT_FOUND')
    return match
  }
  return {
    list: async () => all.map(({ file }) => file),
    read: async (id, signal) => {
      signal?.throwIfAborted()
      const { text } = find(id)
      if (text === undefined) throw new InlayError('INVALID_INPUT', { message: 'The file is locked by a password.' })
      return [{ text }]
    },
    open: async (id) => {
      const { file, bytes } = find(id)
      return { file, bytes: new Blob([bytes]).stream() }
    },
    keep: async ({ name, mediaType, bytes }) => {
      const parts: Uint8Array<ArrayBuffer>[] = []
      for await (const part of bytes) parts.push(new Uint8Array(part))
      const whole = await new Blob(parts).bytes()
      const file = toStored({ name, mediaType, sizeBytes: whole.length })
      all.push({ file, text: new TextDecoder().decode(whole), bytes: whole })
      return file
    },
  }
}

function toStored(file: Partial<StoredFile> & { readonly name: string }): StoredFile {
  return {
    id: `${file.name}-own`,
    fileId: `${file.name}-file`,
    ownerId: ana.id,
    mediaType: 'text/plain',
    kind: 'plain_text',
    sizeBytes: 10,
    status: 'COMPLETED',
    reason: null,
    tokens: 3,
    createdAt: 0,
    usedAt: null,
    ...file,
  }
}
