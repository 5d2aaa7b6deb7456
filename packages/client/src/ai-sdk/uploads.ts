import { InlayError, type SendMessageInput } from '@inlay/protocol'
import type { FileUIPart } from 'ai'
import type { Client } from '../client.ts'
import type { InlayUIMessage } from './messages.ts'

type Descriptors = Pick<SendMessageInput, 'file_descriptors'>

/** Waits until their text is extracted. @throws INVALID_INPUT with the reason for each file that cannot be accepted */
export async function uploadFiles(
  client: Client,
  question: InlayUIMessage,
  signal: AbortSignal | undefined,
): Promise<Descriptors> {
  const parts = question.parts.filter((part): part is FileUIPart => part.type === 'file')
  const known = parts.flatMap((part) => storedId(part) ?? [])
  const files = await Promise.all(
    parts.filter((part) => storedId(part) === undefined).map((part) => toFile(part, signal)),
  )
  if (files.length === 0) return known.length === 0 ? {} : { file_descriptors: known.map((id) => ({ id })) }
  const { user_files: taken, rejected_files: rejected } = await client.files.upload(files, { signal })
  const read = await client.files.whenRead(
    taken.map(({ id }) => id),
    { signal },
  )
  const faults = [
    ...rejected.map(({ file_name: name, reason }) => `${name}: ${reason}`),
    ...read.flatMap(({ name, status, reason }) =>
      status === 'FAILED' ? [`${name}: ${reason ?? 'It cannot be read.'}`] : [],
    ),
  ]
  if (faults.length > 0) throw new InlayError('INVALID_INPUT', { message: faults.join('\n') })
  return { file_descriptors: [...known, ...read.map((file) => file.file_id)].map((id) => ({ id })) }
}

function storedId({ providerMetadata }: FileUIPart): string | undefined {
  const id = providerMetadata?.['inlay']?.['fileId']
  return typeof id === 'string' ? id : undefined
}

async function toFile({ url, filename, mediaType }: FileUIPart, signal: AbortSignal | undefined): Promise<File> {
  const name = filename ?? 'file'
  // Selected files are data or blob URLs, which `fetch` can read.
  const response = await fetch(url, { signal }).catch((cause: unknown) => {
    if (signal?.aborted) throw signal.reason
    throw new InlayError('INVALID_INPUT', { message: `${name}: It cannot be read.`, cause })
  })
  return new File([await response.blob()], name, { type: mediaType })
}
