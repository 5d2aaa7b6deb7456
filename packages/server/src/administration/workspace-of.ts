import { InlayError } from '@inlay/protocol'
import type { ServerParts } from '../http/route.ts'
import type { WorkspaceRecords } from './workspace-records.ts'

/** Where calls keep what they set. @throws NOT_IMPLEMENTED where the host gave none */
export function workspaceOf({ workspace }: Pick<ServerParts, 'workspace'>): WorkspaceRecords {
  if (workspace !== undefined) return workspace
  throw new InlayError('NOT_IMPLEMENTED', { message: 'This deployment keeps nothing that is set over the API.' })
}
