import { InlayError, isJsonObject, type Principal } from '@inlay/protocol'
import type { Conversations } from '@inlay/conversations'
import type { Knowledge } from '@inlay/knowledge'

/** Where uploaded files are, and where documents go. */
interface FileParts {
  readonly agent: Pick<Conversations, 'files'>
  readonly knowledge: Pick<Knowledge, 'ingestFile'>
}

/** The files that a connector's configuration names. @throws NOT_FOUND for one that is not the caller's */
export async function checkConnectorFiles(config: unknown, caller: Principal, { agent }: FileParts): Promise<void> {
  for (const id of fileIdsOf(config)) await agent.files.get(id, caller)
}

/** Takes the files in as documents of a pair; a file that did not change costs nothing. */
export async function takeConnectorFiles(
  config: unknown,
  pairId: number,
  caller: Principal,
  { agent, knowledge }: FileParts,
): Promise<void> {
  for (const id of fileIdsOf(config)) {
    const { file, bytes } = await agent.files.open(id, caller)
    const content = new Uint8Array(await new Response(bytes).arrayBuffer())
    const source = { name: file.name, mediaType: file.mediaType, bytes: content }
    await knowledge.ingestFile(
      { file: source, id: `file_connector_${file.fileId}`, source: 'file', pairId },
      { caller },
    )
  }
}

function fileIdsOf(config: unknown): readonly string[] {
  const locations = isJsonObject(config) ? (config['file_locations'] ?? []) : []
  if (Array.isArray(locations) && locations.every((id) => typeof id === 'string')) return locations
  throw new InlayError('VALIDATION_ERROR', { message: 'file_locations is a list of ids that an upload answered.' })
}
