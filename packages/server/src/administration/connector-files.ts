import { InlayError, isJsonObject, type Principal } from '@inlay/protocol'
import type { Conversations } from '@inlay/conversations'
import type { Knowledge } from '@inlay/knowledge'

interface FileParts {
  readonly agent: Pick<Conversations, 'files'>
  readonly knowledge: Pick<Knowledge, 'ingestFile'>
}

/** Checks that the caller owns the files of a connector's configuration. @throws NOT_FOUND for any other file */
export async function checkConnectorFiles(config: unknown, caller: Principal, { agent }: FileParts): Promise<void> {
  for (const id of fileIdsOf(config)) await agent.files.get(id, caller)
}

/** Ingests the files as documents of a pair; unchanged files are skipped. */
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
  throw new InlayError('VALIDATION_ERROR', {
    message: 'file_locations must be a list of file ids returned by an upload.',
  })
}
