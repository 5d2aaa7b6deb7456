import * as v from 'valibot'
import { dictionary, integer, model, orNull, text, type WireSchema } from '../fields.ts'
import { accessTypes, groupNames, recordName, type AccessType } from '../resources/pairs.ts'

/** Sources whose connectors run here: uploaded files, and documents that a program sends. */
export const connectorSources = ['file', 'ingestion_api'] as const

/** One of {@link connectorSources}. */
export type ConnectorSource = (typeof connectorSources)[number]

const json: WireSchema<Readonly<Record<string, unknown>>> = dictionary(v.unknown())
const inputTypes = ['load_state', 'poll', 'event', 'slim_retrieval'] as const
const permissions: WireSchema<Readonly<Record<string, boolean>>> = v.record(v.string(), v.boolean())

/** Body of `POST /manage/admin/connector`. */
export interface ConnectorCreation {
  readonly name: string
  /** One of {@link connectorSources}; others are refused with the reason. */
  readonly source: string
  readonly input_type: string
  /** For `file`: `file_locations`, ids of uploaded files, and `file_names`. */
  readonly connector_specific_config: Readonly<Record<string, unknown>>
  readonly access_type: string
  readonly refresh_freq: number | null
  readonly prune_freq: number | null
  readonly groups: readonly string[]
}

/** Schema of {@link ConnectorCreation}. */
export const connectorCreationSchema: WireSchema<ConnectorCreation> = model({
  name: recordName,
  source: text,
  input_type: v.picklist(inputTypes),
  connector_specific_config: json,
  access_type: v.picklist([...accessTypes, 'sync']),
  refresh_freq: orNull(integer),
  prune_freq: orNull(integer),
  groups: v.nullish(groupNames, () => []),
})

/** Answer of `POST /manage/admin/connector`. */
export const connectorCreatedSchema: WireSchema<{ readonly id: number; readonly credential: null }> = model({
  id: integer,
  credential: v.null(),
})

/** Body of `POST /manage/credential`. What it holds is not kept: no connector here signs in anywhere. */
export interface CredentialCreation {
  readonly credential_json: Readonly<Record<string, unknown>>
  readonly admin_public: boolean
  readonly source: string
  readonly name: string | null
  readonly curator_public: boolean
  readonly groups: readonly string[]
}

/** Schema of {@link CredentialCreation}. */
export const credentialCreationSchema: WireSchema<CredentialCreation> = model({
  credential_json: json,
  admin_public: v.boolean(),
  source: text,
  name: orNull(text),
  curator_public: v.nullish(v.boolean(), false),
  groups: v.nullish(groupNames, () => []),
})

/** A connector as clients see it. */
export interface ConnectorDetail {
  readonly id: number
  readonly name: string
  readonly source: string
  readonly input_type: string
  readonly connector_specific_config: Readonly<Record<string, unknown>>
  readonly refresh_freq: number | null
  readonly prune_freq: number | null
  readonly indexing_start: string | null
  readonly credential_ids: readonly number[]
  readonly time_created: string
  readonly time_updated: string
}

/** Schema of {@link ConnectorDetail}. */
export const connectorSchema: WireSchema<ConnectorDetail> = model({
  id: integer,
  name: v.string(),
  source: v.string(),
  input_type: v.string(),
  connector_specific_config: json,
  refresh_freq: orNull(integer),
  prune_freq: orNull(integer),
  indexing_start: orNull(v.string()),
  credential_ids: v.array(integer),
  time_created: v.string(),
  time_updated: v.string(),
})

/** A credential as clients see it: names of what it was made with, never the values. */
export interface CredentialDetail {
  readonly id: number
  readonly credential_json: Readonly<Record<string, unknown>>
  readonly admin_public: boolean
  readonly curator_public: boolean
  readonly source: string
  readonly name: string | null
  readonly groups: readonly string[]
  readonly user_id: string | null
  readonly user_email: string | null
  readonly time_created: string
  readonly time_updated: string
}

/** Schema of {@link CredentialDetail}. */
export const credentialSchema: WireSchema<CredentialDetail> = model({
  id: integer,
  credential_json: json,
  admin_public: v.boolean(),
  curator_public: v.boolean(),
  source: v.string(),
  name: orNull(v.string()),
  groups: v.array(v.string()),
  user_id: orNull(v.string()),
  user_email: orNull(v.string()),
  time_created: v.string(),
  time_updated: v.string(),
})

/** Answer of `POST /manage/credential`. */
export const credentialCreatedSchema: WireSchema<{ readonly id: number; readonly credential: CredentialDetail }> =
  model({ id: integer, credential: credentialSchema })

/** Body of `PUT /manage/connector/{connector_id}/credential/{credential_id}`. */
export interface PairLink {
  readonly name: string
  readonly access_type: string
  readonly groups: readonly string[]
}

/** Schema of {@link PairLink}. */
export const pairLinkSchema: WireSchema<PairLink> = model({
  name: recordName,
  access_type: v.picklist([...accessTypes, 'sync']),
  groups: v.nullish(groupNames, () => []),
})

/** Answer of calls that say in words how they went; `data` is an id or a count. */
export interface StatusResponse {
  readonly success: boolean
  readonly message: string
  readonly data: number | null
}

/** Schema of {@link StatusResponse}. */
export const statusResponseSchema: WireSchema<StatusResponse> = model({
  success: v.boolean(),
  message: v.string(),
  data: orNull(integer),
})

/** Schema of the body of `POST /manage/admin/connector/run-once`. */
export const connectorRunSchema: WireSchema<{
  readonly connector_id: number
  readonly credential_ids: readonly number[] | null
  readonly from_beginning: boolean
}> = model({
  connector_id: integer,
  credential_ids: orNull(v.array(integer)),
  from_beginning: v.nullish(v.boolean(), false),
})

/** Schema of the body of `PUT /manage/admin/cc-pair/{cc_pair_id}/status`. */
export const pairStatusChangeSchema: WireSchema<{ readonly status: string }> = model({ status: text })

/** Schema of the body of `POST /manage/admin/deletion-attempt`. */
export const deletionAttemptSchema: WireSchema<{ readonly connector_id: number; readonly credential_id: number }> =
  model({ connector_id: integer, credential_id: integer })

/** Where a pair stands. */
export const pairStatuses = ['SCHEDULED', 'INITIAL_INDEXING', 'ACTIVE', 'PAUSED', 'DELETING', 'INVALID'] as const

/** One of {@link pairStatuses}. */
export type PairStatus = (typeof pairStatuses)[number]

/** Answer of `GET /manage/admin/cc-pair/{cc_pair_id}`: fields without a meaning here keep their neutral value. */
export interface PairDetail {
  readonly id: number
  readonly name: string
  readonly status: PairStatus
  readonly in_repeated_error_state: boolean
  readonly num_docs_indexed: number
  readonly connector: ConnectorDetail
  readonly credential: CredentialDetail
  readonly number_of_index_attempts: number
  readonly last_index_attempt_status: string | null
  readonly latest_deletion_attempt: null
  readonly access_type: AccessType
  readonly is_editable_for_current_user: boolean
  readonly permissions: Readonly<Record<string, boolean>>
  readonly deletion_failure_message: null
  readonly indexing: boolean
  readonly creator: null
  readonly creator_email: null
  readonly last_indexed: string | null
  readonly last_pruned: null
  readonly last_full_permission_sync: null
  readonly overall_indexing_speed: null
  readonly latest_checkpoint_description: null
  readonly permission_syncing: boolean
  readonly last_permission_sync_attempt_status: null
  readonly last_permission_sync_attempt_finished: null
  readonly last_permission_sync_attempt_error_message: null
  readonly supports_targeted_reindex: boolean
}

/** Schema of {@link PairDetail}. */
export const pairDetailSchema: WireSchema<PairDetail> = model({
  id: integer,
  name: v.string(),
  status: v.picklist(pairStatuses),
  in_repeated_error_state: v.boolean(),
  num_docs_indexed: integer,
  connector: connectorSchema,
  credential: credentialSchema,
  number_of_index_attempts: integer,
  last_index_attempt_status: orNull(v.string()),
  latest_deletion_attempt: v.null(),
  access_type: v.picklist(accessTypes),
  is_editable_for_current_user: v.boolean(),
  permissions,
  deletion_failure_message: v.null(),
  indexing: v.boolean(),
  creator: v.null(),
  creator_email: v.null(),
  last_indexed: orNull(v.string()),
  last_pruned: v.null(),
  last_full_permission_sync: v.null(),
  overall_indexing_speed: v.null(),
  latest_checkpoint_description: v.null(),
  permission_syncing: v.boolean(),
  last_permission_sync_attempt_status: v.null(),
  last_permission_sync_attempt_finished: v.null(),
  last_permission_sync_attempt_error_message: v.null(),
  supports_targeted_reindex: v.boolean(),
})

/** A pair in `GET /manage/admin/connector/status`. */
export interface ConnectorStatus {
  readonly cc_pair_id: number
  readonly name: string
  readonly connector: ConnectorDetail
  readonly credential: CredentialDetail
  readonly access_type: AccessType
  readonly groups: readonly string[]
}

/** Schema of {@link ConnectorStatus}. */
export const connectorStatusSchema: WireSchema<ConnectorStatus> = model({
  cc_pair_id: integer,
  name: v.string(),
  connector: connectorSchema,
  credential: credentialSchema,
  access_type: v.picklist(accessTypes),
  groups: v.array(v.string()),
})

/** Schema of an entry of `GET /manage/connector-status`. */
export const basicConnectorStatusSchema: WireSchema<{
  readonly has_successful_run: boolean
  readonly source: string
  readonly status: PairStatus
}> = model({ has_successful_run: v.boolean(), source: v.string(), status: v.picklist(pairStatuses) })

/** Answer of `POST /manage/admin/connector/file/upload`. */
export const connectorFilesSchema: WireSchema<{
  readonly file_paths: readonly string[]
  readonly file_names: readonly string[]
  readonly zip_metadata_file_id: null
}> = model({ file_paths: v.array(v.string()), file_names: v.array(v.string()), zip_metadata_file_id: v.null() })
