import type { PacketOf } from '@inlay/protocol'
import type { ActionResult, ActionTurn } from '@inlay/agent'
import type { AddressAnswer } from './contracts.ts'
import { toResultText } from './tool-result.ts'

type Delta = PacketOf<'custom_tool_delta'>

/**
 * Emits the packet for clients and returns the text for the model. CSV and images are stored as files if there is a
 * store. Any status except 401 and 403 is a normal response, whose status the model sees.
 */
export async function tellAnswer(
  { name, id }: { readonly name: string; readonly id: number },
  answer: AddressAnswer,
  turn: ActionTurn,
): Promise<ActionResult> {
  const { status } = answer
  const refused = status === 401 || status === 403
  const error = refused
    ? { is_auth_error: true, status_code: status, message: `${name} refused its credentials.` }
    : null
  const { delta, seen } = await readAnswer(name, answer, turn)
  turn.emit({ type: 'custom_tool_delta', tool_name: name, tool_id: id, ...delta, error })
  const toolAnswer = {
    toolName: name,
    responseType: delta.response_type,
    result: seen,
    error,
    ...(status < 400 ? {} : { status }),
  }
  return { text: toResultText(toolAnswer, turn.resultTokens) }
}

interface ReadAnswer {
  readonly delta: Pick<Delta, 'response_type' | 'data' | 'file_ids'>
  /** Result for the model. */
  readonly seen: unknown
}

async function readAnswer(name: string, answer: AddressAnswer, turn: ActionTurn): Promise<ReadAnswer> {
  const { headers, bytes } = answer
  const mediaType = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (mediaType.includes('text/csv') || mediaType.startsWith('image/'))
    return keepFile({ name, mediaType, bytes }, turn)
  const text = textOf(headers, bytes)
  if (text === undefined) {
    return asText(`The service answered with ${bytes.byteLength} bytes of ${mediaType || 'an unknown kind'}.`)
  }
  try {
    const data = JSON.parse(text) as unknown
    return { delta: { response_type: 'json', data, file_ids: null }, seen: data }
  } catch {
    return asText(text)
  }
}

function asText(text: string): ReadAnswer {
  return { delta: { response_type: 'text', data: text, file_ids: null }, seen: text }
}

/** The text of a body; undefined when it is none. */
function textOf(headers: Headers, bytes: Uint8Array): string | undefined {
  const charset = /charset="?([\w.:-]+)/i.exec(headers.get('content-type') ?? '')?.[1] ?? 'utf-8'
  let decoder: TextDecoder
  try {
    decoder = new TextDecoder(charset)
  } catch {
    decoder = new TextDecoder()
  }
  const text = decoder.decode(bytes)
  // Text never contains NUL; nearly every binary format does within its first bytes.
  return text.slice(0, 4_096).includes('\0') ? undefined : text
}

async function keepFile(
  { name, mediaType, bytes }: { readonly name: string; readonly mediaType: string; readonly bytes: Uint8Array },
  turn: ActionTurn,
): Promise<ReadAnswer> {
  const isImage = mediaType.startsWith('image/')
  const content = isImage ? undefined : new TextDecoder().decode(bytes)
  if (turn.files === undefined) return asText(content ?? `The service answered with a picture (${mediaType}).`)
  const extension = isImage ? (/^image\/([a-z0-9]+)/.exec(mediaType)?.[1] ?? 'img') : 'csv'
  const kept = await turn.files.keep({ name: `${name}.${extension}`, mediaType, bytes: whole(bytes) })
  const file = { file_id: kept.fileId, file_name: kept.name, media_type: mediaType, size_bytes: bytes.byteLength }
  const shown = 'The file was kept and is shown to the user with this call.'
  return {
    delta: { response_type: isImage ? 'image' : 'csv', data: null, file_ids: [kept.fileId] },
    seen: { ...file, about: shown, content },
  }
}

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
