import * as v from 'valibot'
import { boolean, integer, model, orNull, type Wire, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'
import { accessTypes } from '../resources/pairs.ts'
import { connectorSchema, credentialSchema } from './connectors.ts'

const permissions: WireSchema<Readonly<Record<string, boolean>>> = v.record(v.string(), boolean)

/** States of a connector/credential pair. */
export const pairStatuses = ['SCHEDULED', 'INITIAL_INDEXING', 'ACTIVE', 'PAUSED', 'DELETING', 'INVALID'] as const

/** One of {@link pairStatuses}. */
export type PairStatus = (typeof pairStatuses)[number]

export const pairDetailSchema = model('PairDetail', {
  /** Its number. */
  id: integer,
  /** Display name. */
  name: v.string(),
  /** State of the pair. */
  status: v.picklist(pairStatuses),
  /** Always false here. */
  in_repeated_error_state: boolean,
  /** Number of searchable documents. */
  num_docs_indexed: integer,
  /** The connector that supplies the documents. */
  connector: connectorSchema,
  /** Always null here. */
  credential: credentialSchema,
  /** 0 until the first document arrives, then 1. */
  number_of_index_attempts: integer,
  /** `in_progress`, `success` or `completed_with_errors`. */
  last_index_attempt_status: orNull(v.string()),
  /** Always null here. */
  latest_deletion_attempt: v.null(),
  /** Access to the documents: `public` or `private`. */
  access_type: v.picklist(accessTypes),
  /** Whether the caller can edit it. */
  is_editable_for_current_user: boolean,
  /** Permissions of the caller, by action. */
  permissions,
  /** Always null here. */
  deletion_failure_message: v.null(),
  /** Whether documents are waiting or being indexed. */
  indexing: boolean,
  /** Always null here. */
  creator: v.null(),
  /** Always null here. */
  creator_email: v.null(),
  /** Time when a document last became searchable; ISO 8601 with `Z`. */
  last_indexed: orNull(answeredTime),
  /** Always null here. */
  last_pruned: orNull(answeredTime),
  /** Always null here. */
  last_full_permission_sync: v.null(),
  /** Always null here. */
  overall_indexing_speed: v.null(),
  /** Always null here. */
  latest_checkpoint_description: v.null(),
  /** Always false here. */
  permission_syncing: boolean,
  /** Always null here. */
  last_permission_sync_attempt_status: v.null(),
  /** Always null here. */
  last_permission_sync_attempt_finished: v.null(),
  /** Always null here. */
  last_permission_sync_attempt_error_message: v.null(),
  /** Always false here. */
  supports_targeted_reindex: boolean,
})

/** Answer of `GET /manage/admin/cc-pair/{cc_pair_id}`. Fields of unsupported features have a fixed value. */
export type PairDetail = Wire<typeof pairDetailSchema>

export const connectorStatusSchema = model('ConnectorStatus', {
  /** Number of the pair. */
  cc_pair_id: integer,
  /** Display name. */
  name: v.string(),
  /** The connector that supplies the documents. */
  connector: connectorSchema,
  /** Always null here. */
  credential: credentialSchema,
  /** Access to the documents: `public` or `private`. */
  access_type: v.picklist(accessTypes),
  /** Groups with access to the documents. */
  groups: v.array(v.string()),
})

/** A pair in `GET /manage/admin/connector/status`. */
export type ConnectorStatus = Wire<typeof connectorStatusSchema>

export const basicConnectorStatusSchema = model('BasicConnectorStatus', {
  /** Whether any of its documents was ever indexed. */
  has_successful_run: boolean,
  /** Source, as documents name theirs. */
  source: v.string(),
  /** State of the pair. */
  status: v.picklist(pairStatuses),
})

/** Entry of `GET /manage/connector-status`. */
export type BasicConnectorStatus = Wire<typeof basicConnectorStatusSchema>

export const connectorFilesSchema = model('ConnectorFiles', {
  /** File ids, for `file_locations` of a connector and `image_file_id` of a section. */
  file_paths: v.array(v.string()),
  /** File names, in the order of the ids. */
  file_names: v.array(v.string()),
  /** Always null: archives are not unpacked. */
  zip_metadata_file_id: v.null(),
})

/** Answer of `POST /manage/admin/connector/file/upload`. */
export type ConnectorFiles = Wire<typeof connectorFilesSchema>
