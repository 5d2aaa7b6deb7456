import * as v from 'valibot'
import { boolean, dictionary, integer, model, orNull, spelledModel, text, type WireSchema } from '../fields.ts'
import { answeredTime } from '../timestamps.ts'
import { accessTypes, groupNames, recordName } from '../resources/pairs.ts'

/** Sources whose connectors run here: uploaded files, and documents that a program sends. */
export const connectorSources = ['file', 'ingestion_api'] as const

/** One of {@link connectorSources}. */
export type ConnectorSource = (typeof connectorSources)[number]

const json: WireSchema<Readonly<Record<string, unknown>>> = dictionary(v.unknown())
const inputTypes = ['load_state', 'poll', 'event', 'slim_retrieval'] as const

/** Body of `POST /manage/admin/connector`. */
export interface ConnectorCreation {
  /** What people call it. */
  readonly name: string
  /** One of {@link connectorSources}; others are refused with the reason. */
  readonly source: string
  /** How documents come: `load_state`, `poll`, `event` or `slim_retrieval`. */
  readonly input_type: string
  /** For `file`: `file_locations`, ids of uploaded files, and `file_names`. */
  readonly connector_specific_config: Readonly<Record<string, unknown>>
  /** Who may see the documents: `public`, or `private`. */
  readonly access_type: string
  /** Seconds between runs; kept for clients alone. */
  readonly refresh_freq: number | null
  /** Seconds between clean-ups; kept for clients alone. */
  readonly prune_freq: number | null
  /** Names of groups that may see the documents. */
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

/** Body of `POST /manage/credential`. What it holds is not kept: no connector here signs in anywhere. */
export interface CredentialCreation {
  /** What it was made with: names, and dots in place of values. */
  readonly credential_json: Readonly<Record<string, unknown>>
  /** Whether all administrators may use it. */
  readonly admin_public: boolean
  /** Source, as documents name theirs. */
  readonly source: string
  /** What people call it. */
  readonly name: string | null
  /** Always false here. */
  readonly curator_public: boolean
  /** Names of groups that may see the documents. */
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
  /** What people call it. */
  readonly name: string
  /** Source, as documents name theirs. */
  readonly source: string
  /** How documents come: `load_state`, `poll`, `event` or `slim_retrieval`. */
  readonly input_type: string
  /** Settings of the source; for `file`: `file_locations`, ids of uploads, and `file_names`. */
  readonly connector_specific_config: Readonly<Record<string, unknown>>
  /** Seconds between runs; kept for clients alone. */
  readonly refresh_freq: number | null
  /** Seconds between clean-ups; kept for clients alone. */
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

/** A credential as clients see it: names of what it was made with, never the values. */
export interface CredentialDetail {
  /** Its number. */
  readonly id: number
  /** What it was made with: names, and dots in place of values. */
  readonly credential_json: Readonly<Record<string, unknown>>
  /** Whether all administrators may use it. */
  readonly admin_public: boolean
  /** Always false here. */
  readonly curator_public: boolean
  /** Source, as documents name theirs. */
  readonly source: string
  /** What people call it. */
  readonly name: string | null
  /** Names of groups that may see the documents. */
  readonly groups: readonly string[]
  /** Who made it; null when nobody did. */
  readonly user_id: string | null
  /** E-mail address of who made it. */
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
  /** What people call it. */
  readonly name: string
  /** Who may see the documents: `public`, or `private`. */
  readonly access_type: string
  /** Names of groups that may see the documents. */
  readonly groups: readonly string[]
}

export const pairLinkSchema: WireSchema<PairLink> = spelledModel('PairLink', {
  name: recordName,
  access_type: v.picklist([...accessTypes, 'sync']),
  groups: v.nullish(groupNames, () => []),
})

/** Answer of calls that say in words how they went; `data` is an id or a count. */
export interface StatusResponse {
  /** Whether it was done. */
  readonly success: boolean
  /** How it went, in words. */
  readonly message: string
  /** An id or a count, as the address says. */
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
  /** Read by clients alone: files that did not change cost nothing. */
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
