import * as v from 'valibot'
import {
  always,
  boolean,
  dictionary,
  integer,
  model,
  orNull,
  spelledModel,
  text,
  type Wire,
  type WireSchema,
} from '../fields.ts'
import { answeredTime } from '../timestamps.ts'
import { accessTypes, groupNames, recordName } from '../resources/pairs.ts'

/** Supported connector sources: uploaded files, and documents sent over the ingestion API. */
export const connectorSources = ['file', 'ingestion_api'] as const

const json: WireSchema<Readonly<Record<string, unknown>>> = dictionary(v.unknown())
const inputTypes = ['load_state', 'poll', 'event', 'slim_retrieval'] as const

/** Body of `POST /manage/admin/connector`. */
export const connectorCreationSchema = model('ConnectorCreation', {
  /** Display name. */
  name: recordName,
  /** One of {@link connectorSources}; other sources are refused with an explanation. */
  source: text,
  /** How documents are fetched: `load_state`, `poll`, `event` or `slim_retrieval`. */
  input_type: v.picklist(inputTypes),
  /** For `file`: `file_locations`, ids of uploaded files, and `file_names`. */
  connector_specific_config: json,
  /** Access to the documents: `public` or `private`. */
  access_type: v.picklist([...accessTypes, 'sync']),
  /** Seconds between runs. Stored for clients; has no effect. */
  refresh_freq: orNull(integer),
  /** Seconds between clean-ups. Stored for clients; has no effect. */
  prune_freq: orNull(integer),
  /** Groups with access to the documents. */
  groups: v.nullish(groupNames, () => []),
})

/** Answer of `POST /manage/admin/connector`. */
export const connectorCreatedSchema = model({ id: integer, credential: v.null() })

/** Body of `POST /manage/credential`. The secret itself is not stored: no connector needs to sign in. */
export const credentialCreationSchema = model('CredentialCreation', {
  /** Names of the stored fields; values are masked with dots. */
  credential_json: json,
  /** Whether all administrators can use it. */
  admin_public: boolean,
  /** Source, as documents name theirs. */
  source: text,
  /** Display name. */
  name: orNull(text),
  /** Always false here. */
  curator_public: v.nullish(boolean, false),
  /** Groups with access to the documents. */
  groups: v.nullish(groupNames, () => []),
})

export const connectorSchema = model('ConnectorDetail', {
  /** Its number. */
  id: integer,
  /** Display name. */
  name: v.string(),
  /** Source, as documents name theirs. */
  source: v.string(),
  /** How documents are fetched: `load_state`, `poll`, `event` or `slim_retrieval`. */
  input_type: v.string(),
  /** Settings of the source; for `file`: `file_locations`, ids of uploads, and `file_names`. */
  connector_specific_config: json,
  /** Seconds between runs. Stored for clients; has no effect. */
  refresh_freq: orNull(integer),
  /** Seconds between clean-ups. Stored for clients; has no effect. */
  prune_freq: orNull(integer),
  indexing_start: always(null, orNull(v.string())),
  /** Credentials that the connector is linked with. */
  credential_ids: v.array(integer),
  /** ISO 8601 with `Z`. */
  time_created: answeredTime,
  /** ISO 8601 with `Z`. */
  time_updated: answeredTime,
})

/** A connector as clients see it. */
export type ConnectorDetail = Wire<typeof connectorSchema>

export const credentialSchema = model('CredentialDetail', {
  /** Its number. */
  id: integer,
  /** Names of the stored fields; values are masked with dots. */
  credential_json: json,
  /** Whether all administrators can use it. */
  admin_public: boolean,
  curator_public: always(false, boolean),
  /** Source, as documents name theirs. */
  source: v.string(),
  /** Display name. */
  name: orNull(v.string()),
  /** Groups with access to the documents. */
  groups: v.array(v.string()),
  /** Id of the creator; null when there is none. */
  user_id: orNull(v.string()),
  /** E-mail address of the creator. */
  user_email: orNull(v.string()),
  /** ISO 8601 with `Z`. */
  time_created: answeredTime,
  /** ISO 8601 with `Z`. */
  time_updated: answeredTime,
})

/** A credential as returned to clients: field names only, never values. */
export type CredentialDetail = Wire<typeof credentialSchema>

/** Answer of `POST /manage/credential`. */
export const credentialCreatedSchema = model({ id: integer, credential: credentialSchema })

/** Body of `PUT /manage/connector/{connector_id}/credential/{credential_id}`. */
export const pairLinkSchema = spelledModel('PairLink', {
  /** Display name. */
  name: recordName,
  /** Access to the documents: `public` or `private`. */
  access_type: v.picklist([...accessTypes, 'sync']),
  /** Groups with access to the documents. */
  groups: v.nullish(groupNames, () => []),
})

/** Answer of operations that report their result as text; `data` is an id or a count. */
export const statusResponseSchema = model('StatusResponse', {
  /** Whether the operation succeeded. */
  success: boolean,
  /** Result as text. */
  message: v.string(),
  /** An id or a count, depending on the route. */
  data: orNull(integer),
})

/** Schema of the body of `POST /manage/admin/connector/run-once`. */
export const connectorRunSchema = model({
  connector_id: integer,
  credential_ids: orNull(v.array(integer)),
  // Accepted for compatibility: unchanged files are skipped either way.
  from_beginning: v.nullish(boolean, false),
})

/** Schema of the body of `PUT /manage/admin/cc-pair/{cc_pair_id}/status`. */
export const pairStatusChangeSchema = model({ status: text })

/** Schema of the body of `POST /manage/admin/deletion-attempt`. */
export const deletionAttemptSchema = model({ connector_id: integer, credential_id: integer })
