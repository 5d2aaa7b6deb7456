import type { Pair, PairProgress } from '@inlay/knowledge'
import { complete, hasScope, toUserId, type Principal } from '@inlay/protocol'
import {
  connectorIndexingSchema,
  connectorSchema,
  credentialSchema,
  pairDetailSchema,
  type ConnectorDetail,
  type ConnectorIndexing,
  type ConnectorStatus,
  type CredentialDetail,
  type PairDetail,
  type PairStatus,
} from '@inlay/protocol/administration'
import { firstFreeId, type WorkspaceRecord, type WorkspaceRecords } from './workspace-records.ts'

/** Stored connectors, credentials and links; empty when the host keeps none. */
export interface LinkedRecords {
  readonly connectors: ReadonlyMap<number, WorkspaceRecord<'connector'>>
  readonly credentials: ReadonlyMap<number, WorkspaceRecord<'credential'>>
  /** By pair. */
  readonly links: ReadonlyMap<number, WorkspaceRecord<'link'>>
}

export async function readLinkedRecords(workspace: WorkspaceRecords | undefined): Promise<LinkedRecords> {
  if (!workspace) return { connectors: new Map(), credentials: new Map(), links: new Map() }
  const [connectors, credentials, links] = await Promise.all([
    workspace.list('connector'),
    workspace.list('credential'),
    workspace.list('link'),
  ])
  return { connectors: byId(connectors), credentials: byId(credentials), links: byId(links) }
}

function byId<Record extends { readonly id: number }>(records: readonly Record[]): Map<number, Record> {
  return new Map(records.map((record) => [record.id, record]))
}

/** The pair of a connector and a credential; undefined when they are not linked. */
export function linkedPairId(connectorId: number, credentialId: number, { links }: LinkedRecords): number | undefined {
  const link = [...links.values()].find(
    ({ value }) => value.connectorId === connectorId && value.credentialId === credentialId,
  )
  // A pair created on its own counts as its own connector and credential.
  const isItsOwn = connectorId === credentialId && connectorId <= firstFreeId && !links.has(connectorId)
  return link?.id ?? (isItsOwn ? connectorId : undefined)
}

const iso = (time: number): string => new Date(time).toISOString()

/** The connector of a pair, or a generic ingestion connector if it has none. */
export function connectorOf(pair: Pair, records: LinkedRecords): ConnectorDetail {
  const link = records.links.get(pair.id)
  const connector = link && records.connectors.get(link.value.connectorId)
  if (connector) return toConnector(connector, credentialIdsOf(connector.id, records))
  const { id, name, createdAt } = pair
  const generic = { source: 'ingestion_api', inputType: 'load_state', config: {}, refreshFreq: null, pruneFreq: null }
  return toConnector({ id, value: { name, ...generic }, createdAt, updatedAt: createdAt }, [id])
}

export const credentialIdsOf = (id: number, { links }: LinkedRecords): number[] =>
  [...links.values()].filter(({ value }) => value.connectorId === id).map(({ value }) => value.credentialId)

export function toConnector(
  { id, value, createdAt, updatedAt }: WorkspaceRecord<'connector'>,
  credentialIds: readonly number[],
): ConnectorDetail {
  return complete(connectorSchema, {
    id,
    name: value.name,
    source: value.source,
    input_type: value.inputType,
    connector_specific_config: value.config,
    refresh_freq: value.refreshFreq,
    prune_freq: value.pruneFreq,
    credential_ids: credentialIds,
    time_created: iso(createdAt),
    time_updated: iso(updatedAt),
  })
}

export function toCredential({ id, value, createdAt, updatedAt }: WorkspaceRecord<'credential'>): CredentialDetail {
  return complete(credentialSchema, {
    id,
    credential_json: Object.fromEntries(value.fields.map((name) => [name, '••••'])),
    admin_public: value.isAdminPublic,
    source: value.source,
    name: value.name,
    groups: [],
    user_id: toUserId(value.ownerId),
    user_email: value.ownerEmail,
    time_created: iso(createdAt),
    time_updated: iso(updatedAt),
  })
}

function credentialOf(pair: Pair, records: LinkedRecords): CredentialDetail {
  const link = records.links.get(pair.id)
  const credential = link && records.credentials.get(link.value.credentialId)
  if (credential) return toCredential(credential)
  return complete(credentialSchema, {
    id: pair.id,
    credential_json: {},
    admin_public: true,
    source: 'ingestion_api',
    name: pair.name,
    groups: [],
    user_id: null,
    user_email: null,
    time_created: iso(pair.createdAt),
    time_updated: iso(pair.createdAt),
  })
}

const isBusy = ({ documents }: PairProgress): boolean => documents.pending + documents.indexing > 0

export function pairStatusOf(pair: PairProgress): PairStatus {
  if (pair.isPaused) return 'PAUSED'
  return isBusy(pair) && pair.lastIndexedAt === null ? 'INITIAL_INDEXING' : 'ACTIVE'
}

/** Result of the latest indexing of a pair, with the values that existing clients expect. */
function attemptOf(pair: PairProgress): string {
  if (isBusy(pair)) return 'in_progress'
  return pair.documents.failed > 0 ? 'completed_with_errors' : 'success'
}

function permissionsOf(caller: Principal): Record<string, boolean> {
  const isAdmin = hasScope(caller, 'admin')
  return { edit: isAdmin, delete: isAdmin, publish: isAdmin }
}

export function toPairDetail(pair: PairProgress, caller: Principal, records: LinkedRecords): PairDetail {
  return complete(pairDetailSchema, {
    id: pair.id,
    name: pair.name,
    status: pairStatusOf(pair),
    num_docs_indexed: pair.documents.indexed,
    connector: connectorOf(pair, records),
    credential: credentialOf(pair, records),
    number_of_index_attempts: pair.lastAcceptedAt === null ? 0 : 1,
    last_index_attempt_status: attemptOf(pair),
    access_type: pair.isPublic ? 'public' : 'private',
    is_editable_for_current_user: hasScope(caller, 'admin'),
    permissions: permissionsOf(caller),
    indexing: isBusy(pair),
    last_indexed: pair.lastIndexedAt === null ? null : iso(pair.lastIndexedAt),
  })
}

export function toConnectorStatus(pair: Pair, records: LinkedRecords): ConnectorStatus {
  return {
    cc_pair_id: pair.id,
    name: pair.name,
    connector: connectorOf(pair, records),
    credential: credentialOf(pair, records),
    access_type: pair.isPublic ? 'public' : 'private',
    groups: [],
  }
}

export function toConnectorIndexing(pair: PairProgress, caller: Principal, source: string): ConnectorIndexing {
  const attempt = attemptOf(pair)
  const isDone = attempt !== 'in_progress'
  return complete(connectorIndexingSchema, {
    cc_pair_id: pair.id,
    name: pair.name,
    source,
    access_type: pair.isPublic ? 'public' : 'private',
    cc_pair_status: pairStatusOf(pair),
    in_progress: !isDone,
    last_finished_status: isDone ? attempt : null,
    last_status: attempt,
    last_success: attempt === 'success' ? iso(pair.lastIndexedAt ?? pair.createdAt) : null,
    is_editable: hasScope(caller, 'admin'),
    permissions: permissionsOf(caller),
    docs_indexed: pair.documents.indexed,
    latest_index_attempt_docs_indexed: pair.documents.indexed,
  })
}
