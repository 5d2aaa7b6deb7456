import { InlayError } from '@inlay/protocol'
import type { WorkspaceRecords } from './workspace-records.ts'

/** Server parts that may include the workspace. */
export interface WorkspaceParts {
  readonly workspace?: WorkspaceRecords
}

/** The store of settings made over the API. @throws NOT_IMPLEMENTED when the host provides none */
export function workspaceOf({ workspace }: WorkspaceParts): WorkspaceRecords {
  if (workspace !== undefined) return workspace
  throw new InlayError('NOT_IMPLEMENTED', { message: 'This deployment does not store settings made over the API.' })
}
