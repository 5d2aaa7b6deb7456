import { InlayError } from '@inlay/protocol'
import type { WorkspaceRecords } from './workspace-records.ts'

/** Parts among which the workspace may be. */
export interface WorkspaceParts {
  readonly workspace?: WorkspaceRecords
}

/** Where calls keep what they set. @throws NOT_IMPLEMENTED where the host gave none */
export function workspaceOf({ workspace }: WorkspaceParts): WorkspaceRecords {
  if (workspace !== undefined) return workspace
  throw new InlayError('NOT_IMPLEMENTED', { message: 'This deployment keeps nothing that is set over the API.' })
}
