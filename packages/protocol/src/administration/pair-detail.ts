import * as v from 'valibot'
import { boolean, integer, model, orNull, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'
import { accessTypes, type AccessType } from '../resources/pairs.ts'
import { connectorSchema, credentialSchema, type ConnectorDetail, type CredentialDetail } from './connectors.ts'

const permissions: WireSchema<Readonly<Record<string, boolean>>> = v.record(v.string(), boolean)

/** States of a connector/credential pair. */
export const pairStatuses = ['SCHEDULED', 'INITIAL_INDEXING', 'ACTIVE', 'PAUSED', 'DELETING', 'INVALID'] as const

/** One of {@link pairStatuses}. */
export type PairStatus = (typeof pairStatuses)[number]

/** Answer of `GET /manage/admin/cc-pair/{cc_pair_id}`. Fields of unsupported features have a fixed value. */
export interface PairDetail {
  /** Its number. */
  readonly id: number
  /** Display name. */
  readonly name: string
  /** State of the pair. */
  readonly status: PairStatus
  /** Always false here. */
  readonly in_repeated_error_state: boolean
  /** Number of searchable documents. */
  readonly num_docs_indexed: number
  /** The connector that supplies the documents. */
  readonly connector: ConnectorDetail
  /** Always null here. */
  readonly credential: CredentialDetail
  /** 0 until the first document arrives, then 1. */
  readonly number_of_index_attempts: number
  /** `in_progress`, `success` or `completed_with_errors`. */
  readonly last_index_attempt_status: string | null
  /** Always null here. */
  readonly latest_deletion_attempt: null
  /** Access to the documents: `public` or `private`. */
  readonly access_type: AccessType
  /** Whether the caller can edit it. */
  readonly is_editable_for_current_user: boolean
  /** Permissions of the caller, by action. */
  readonly permissions: Readonly<Record<string, boolean>>
  /** Always null here. */
  readonly deletion_failure_message: null
  /** Whether documents are waiting or being indexed. */
  readonly indexing: boolean
  /** Always null here. */
  readonly creator: null
  /** Always null here. */
  readonly creator_email: null
  /** Time when a document last became searchable; ISO 8601 with `Z`. */
  readonly last_indexed: string | null
  /** Always null here. */
  readonly last_pruned: string | null
  /** Always null here. */
  readonly last_full_permission_sync: null
  /** Always null here. */
  readonly overall_indexing_speed: null
  /** Always null here. */
  readonly latest_checkpoint_description: null
  /** Always false here. */
  readonly permission_syncing: boolean
  /** Always null here. */
  readonly last_permission_sync_attempt_status: null
  /** Always null here. */
  readonly last_permission_sync_attempt_finished: null
  /** Always null here. */
  readonly last_permission_sync_attempt_error_message: null
  /** Always false here. */
  readonly supports_targeted_reindex: boolean
}

export const pairDetailSchema: WireSchema<PairDetail> = model('PairDetail', {
  id: integer,
  name: v.string(),
  status: v.picklist(pairStatuses),
  in_repeated_error_state: boolean,
  num_docs_indexed: integer,
  connector: connectorSchema,
  credential: credentialSchema,
  number_of_index_attempts: integer,
  last_index_attempt_status: orNull(v.string()),
  latest_deletion_attempt: v.null(),
  access_type: v.picklist(accessTypes),
  is_editable_for_current_user: boolean,
  permissions,
  deletion_failure_message: v.null(),
  indexing: boolean,
  creator: v.null(),
  creator_email: v.null(),
  last_indexed: orNull(answeredTime),
  last_pruned: orNull(answeredTime),
  last_full_permission_sync: v.null(),
  overall_indexing_speed: v.null(),
  latest_checkpoint_description: v.null(),
  permission_syncing: boolean,
  last_permission_sync_attempt_status: v.null(),
  last_permission_sync_attempt_finished: v.null(),
  last_permission_sync_attempt_error_message: v.null(),
  supports_targeted_reindex: boolean,
})

/** A pair in `GET /manage/admin/connector/status`. */
export interface ConnectorStatus {
  /** Number of the pair. */
  readonly cc_pair_id: number
  /** Display name. */
  readonly name: string
  /** The connector that supplies the documents. */
  readonly connector: ConnectorDetail
  /** Always null here. */
  readonly credential: CredentialDetail
  /** Access to the documents: `public` or `private`. */
  readonly access_type: AccessType
  /** Groups with access to the documents. */
  readonly groups: readonly string[]
}

export const connectorStatusSchema: WireSchema<ConnectorStatus> = model('ConnectorStatus', {
  cc_pair_id: integer,
  name: v.string(),
  connector: connectorSchema,
  credential: credentialSchema,
  access_type: v.picklist(accessTypes),
  groups: v.array(v.string()),
})

/** Entry of `GET /manage/connector-status`. */
export interface BasicConnectorStatus {
  /** Whether any of its documents was ever indexed. */
  readonly has_successful_run: boolean
  /** Source, as documents name theirs. */
  readonly source: string
  /** State of the pair. */
  readonly status: PairStatus
}

export const basicConnectorStatusSchema: WireSchema<BasicConnectorStatus> = model('BasicConnectorStatus', {
  has_successful_run: boolean,
  source: v.string(),
  status: v.picklist(pairStatuses),
})

/** Answer of `POST /manage/admin/connector/file/upload`. */
export interface ConnectorFiles {
  /** File ids, for `file_locations` of a connector and `image_file_id` of a section. */
  readonly file_paths: readonly string[]
  /** File names, in the order of the ids. */
  readonly file_names: readonly string[]
  /** Always null: archives are not unpacked. */
  readonly zip_metadata_file_id: null
}

export const connectorFilesSchema: WireSchema<ConnectorFiles> = model('ConnectorFiles', {
  file_paths: v.array(v.string()),
  file_names: v.array(v.string()),
  zip_metadata_file_id: v.null(),
})
