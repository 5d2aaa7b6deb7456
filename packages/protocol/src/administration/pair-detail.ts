import * as v from 'valibot'
import { always, boolean, integer, model, orNull, type Wire, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'
import { accessTypes } from '../resources/pairs.ts'
import { connectorSchema, credentialSchema } from './connectors.ts'

const permissions: WireSchema<Readonly<Record<string, boolean>>> = v.record(v.string(), boolean)

/** States of a connector/credential pair. */
export const pairStatuses = ['SCHEDULED', 'INITIAL_INDEXING', 'ACTIVE', 'PAUSED', 'DELETING', 'INVALID'] as const

export type PairStatus = (typeof pairStatuses)[number]

export const pairDetailSchema = model('PairDetail', {
  /** Its number. */
  id: integer,
  /** Display name. */
  name: v.string(),
  /** State of the pair. */
  status: v.picklist(pairStatuses),
  in_repeated_error_state: always(false, boolean),
  /** Number of searchable documents. */
  num_docs_indexed: integer,
  /** The connector that supplies the documents. */
  connector: connectorSchema,
  /** The credential it is linked with. */
  credential: credentialSchema,
  /** 0 until the first document arrives, then 1. */
  number_of_index_attempts: integer,
  /** `in_progress`, `success` or `completed_with_errors`. */
  last_index_attempt_status: orNull(v.string()),
  latest_deletion_attempt: always(null, v.null()),
  /** Access to the documents: `public` or `private`. */
  access_type: v.picklist(accessTypes),
  /** Whether the caller can edit it. */
  is_editable_for_current_user: boolean,
  /** Permissions of the caller, by action. */
  permissions,
  deletion_failure_message: always(null, v.null()),
  /** Whether documents are waiting or being indexed. */
  indexing: boolean,
  creator: always(null, v.null()),
  creator_email: always(null, v.null()),
  /** Time when a document last became searchable; ISO 8601 with `Z`. */
  last_indexed: orNull(answeredTime),
  last_pruned: always(null, orNull(answeredTime)),
  last_full_permission_sync: always(null, v.null()),
  overall_indexing_speed: always(null, v.null()),
  latest_checkpoint_description: always(null, v.null()),
  permission_syncing: always(false, boolean),
  last_permission_sync_attempt_status: always(null, v.null()),
  last_permission_sync_attempt_finished: always(null, v.null()),
  last_permission_sync_attempt_error_message: always(null, v.null()),
  supports_targeted_reindex: always(false, boolean),
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
  /** The credential it is linked with. */
  credential: credentialSchema,
  /** Access to the documents: `public` or `private`. */
  access_type: v.picklist(accessTypes),
  /** Groups with access to the documents. */
  groups: v.array(v.string()),
})

/** A pair in `GET /manage/admin/connector/status`. */
export type ConnectorStatus = Wire<typeof connectorStatusSchema>

/** Entry of `GET /manage/connector-status`. */
export const basicConnectorStatusSchema = model('BasicConnectorStatus', {
  /** Whether any of its documents was ever indexed. */
  has_successful_run: boolean,
  /** Source, as documents name theirs. */
  source: v.string(),
  /** State of the pair. */
  status: v.picklist(pairStatuses),
})

/** Answer of `POST /manage/admin/connector/file/upload`. */
export const connectorFilesSchema = model('ConnectorFiles', {
  /** File ids, for `file_locations` of a connector and `image_file_id` of a section. */
  file_paths: v.array(v.string()),
  /** File names, in the order of the ids. */
  file_names: v.array(v.string()),
  /** Always null: archives are not unpacked. */
  zip_metadata_file_id: always(null, v.null()),
})
