import * as v from 'valibot'
import { boolean, dictionary, integer, model, orNull, spelledModel, text, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'
import { accessTypes, groupNames, recordName } from '../resources/pairs.ts'

/** Supported connector sources: uploaded files, and documents sent over the ingestion API. */
export const connectorSources = ['file', 'ingestion_api'] as const

/** One of {@link connectorSources}. */
export type ConnectorSource = (typeof connectorSources)[number]

const json: WireSchema<Readonly<Record<string, unknown>>> = dictionary(v.unknown())
const inputTypes = ['load_state', 'poll', 'event', 'slim_retrieval'] as const

/** Body of `POST /manage/admin/connector`. */
export interface ConnectorCreation {
  /** Display name. */
  readonly name: string
  /** One of {@link connectorSources}; other sources are refused with an explanation. */
  readonly source: string
  /** How documents are fetched: `load_state`, `poll`, `event` or `slim_retrieval`. */
  readonly input_type: string
  /** For `file`: `file_locations`, ids of uploaded files, and `file_names`. */
  readonly connector_specific_config: Readonly<Record<string, unknown>>
  /** Access to the documents: `public` or `private`. */
  readonly access_type: string
  /** Seconds between runs. Stored for clients; has no effect. */
  readonly refresh_freq: number | null
  /** Seconds between clean-ups. Stored for clients; has no effect. */
  readonly prune_freq: number | null
  /** Groups with access to the documents. */
  readonly groups: readonly string[]
}

export const connectorCreationSchema: WireSchema<ConnectorCreation> = model('ConnectorCreation', {
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

/** Body of `POST /manage/credential`. The secret itself is not stored: no connector needs to sign in. */
export interface CredentialCreation {
  /** Names of the stored fields; values are masked with dots. */
  readonly credential_json: Readonly<Record<string, unknown>>
  /** Whether all administrators can use it. */
  readonly admin_public: boolean
  /** Source, as documents name theirs. */
  readonly source: string
  /** Display name. */
  readonly name: string | null
  /** Always false here. */
  readonly curator_public: boolean
  /** Groups with access to the documents. */
  readonly groups: readonly string[]
}

export const credentialCreationSchema: WireSchema<CredentialCreation> = model('CredentialCreation', {
  credential_json: json,
  admin_public: boolean,
  source: text,
  name: orNull(text),
  curator_public: v.nullish(boolean, false),
  groups: v.nullish(groupNames, () => []),
})

/** A connector as clients see it. */
export interface ConnectorDetail {
  /** Its number. */
  readonly id: number
  /** Display name. */
  readonly name: string
  /** Source, as documents name theirs. */
  readonly source: string
  /** How documents are fetched: `load_state`, `poll`, `event` or `slim_retrieval`. */
  readonly input_type: string
  /** Settings of the source; for `file`: `file_locations`, ids of uploads, and `file_names`. */
  readonly connector_specific_config: Readonly<Record<string, unknown>>
  /** Seconds between runs. Stored for clients; has no effect. */
  readonly refresh_freq: number | null
  /** Seconds between clean-ups. Stored for clients; has no effect. */
  readonly prune_freq: number | null
  /** Always null here. */
  readonly indexing_start: string | null
  /** Credentials that the connector is linked with. */
  readonly credential_ids: readonly number[]
  /** ISO 8601 with `Z`. */
  readonly time_created: string
  /** ISO 8601 with `Z`. */
  readonly time_updated: string
}

export const connectorSchema: WireSchema<ConnectorDetail> = model('ConnectorDetail', {
  id: integer,
  name: v.string(),
  source: v.string(),
  input_type: v.string(),
  connector_specific_config: json,
  refresh_freq: orNull(integer),
  prune_freq: orNull(integer),
  indexing_start: orNull(v.string()),
  credential_ids: v.array(integer),
  time_created: answeredTime,
  time_updated: answeredTime,
})

/** A credential as returned to clients: field names only, never values. */
export interface CredentialDetail {
  /** Its number. */
  readonly id: number
  /** Names of the stored fields; values are masked with dots. */
  readonly credential_json: Readonly<Record<string, unknown>>
  /** Whether all administrators can use it. */
  readonly admin_public: boolean
  /** Always false here. */
  readonly curator_public: boolean
  /** Source, as documents name theirs. */
  readonly source: string
  /** Display name. */
  readonly name: string | null
  /** Groups with access to the documents. */
  readonly groups: readonly string[]
  /** Id of the creator; null when there is none. */
  readonly user_id: string | null
  /** E-mail address of the creator. */
  readonly user_email: string | null
  /** ISO 8601 with `Z`. */
  readonly time_created: string
  /** ISO 8601 with `Z`. */
  readonly time_updated: string
}

export const credentialSchema: WireSchema<CredentialDetail> = model('CredentialDetail', {
  id: integer,
  credential_json: json,
  admin_public: boolean,
  curator_public: boolean,
  source: v.string(),
  name: orNull(v.string()),
  groups: v.array(v.string()),
  user_id: orNull(v.string()),
  user_email: orNull(v.string()),
  time_created: answeredTime,
  time_updated: answeredTime,
})

/** Answer of `POST /manage/credential`. */
export const credentialCreatedSchema: WireSchema<{ readonly id: number; readonly credential: CredentialDetail }> =
  model({ id: integer, credential: credentialSchema })

/** Body of `PUT /manage/connector/{connector_id}/credential/{credential_id}`. */
export interface PairLink {
  /** Display name. */
  readonly name: string
  /** Access to the documents: `public` or `private`. */
  readonly access_type: string
  /** Groups with access to the documents. */
  readonly groups: readonly string[]
}

export const pairLinkSchema: WireSchema<PairLink> = spelledModel('PairLink', {
  name: recordName,
  access_type: v.picklist([...accessTypes, 'sync']),
  groups: v.nullish(groupNames, () => []),
})

/** Answer of operations that report their result as text; `data` is an id or a count. */
export interface StatusResponse {
  /** Whether the operation succeeded. */
  readonly success: boolean
  /** Result as text. */
  readonly message: string
  /** An id or a count, depending on the route. */
  readonly data: number | null
}

export const statusResponseSchema: WireSchema<StatusResponse> = model('StatusResponse', {
  success: boolean,
  message: v.string(),
  data: orNull(integer),
})

/** Schema of the body of `POST /manage/admin/connector/run-once`. */
export const connectorRunSchema: WireSchema<{
  /** Number of the connector. */
  readonly connector_id: number
  /** Credentials that the connector is linked with. */
  readonly credential_ids: readonly number[] | null
  /** Accepted for compatibility: unchanged files are skipped either way. */
  readonly from_beginning: boolean
}> = model({
  connector_id: integer,
  credential_ids: orNull(v.array(integer)),
  from_beginning: v.nullish(boolean, false),
})

/** Schema of the body of `PUT /manage/admin/cc-pair/{cc_pair_id}/status`. */
export const pairStatusChangeSchema: WireSchema<{ readonly status: string }> = model({ status: text })

/** Schema of the body of `POST /manage/admin/deletion-attempt`. */
export const deletionAttemptSchema: WireSchema<{ readonly connector_id: number; readonly credential_id: number }> =
  model({ connector_id: integer, credential_id: integer })
