import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import type { FileKind } from '../chat/send-message.ts'
import { boolean, dictionary, integer, model, orNull, text, uuid, type WireSchema } from '../fields.ts'

/** How a file is given to a model, by its media type. */
export const fileKinds = ['image', 'document', 'plain_text', 'tabular'] as const

/**
 * Where an uploaded file stands: its text is being read; read; refused with a reason; kept without being read, as
 * spreadsheets above the limit of tokens are.
 */
export const fileStatuses = ['PROCESSING', 'COMPLETED', 'FAILED', 'SKIPPED'] as const

/** One of {@link fileStatuses}. */
export type FileStatus = (typeof fileStatuses)[number]

/** An uploaded file as its owner sees it; times are ISO 8601 with `Z`. */
export interface UserFile {
  /** For `user_file_id` of a FileDescriptor, and in addresses. */
  readonly id: string
  /** The client's own name for it, echoed by the upload alone. */
  readonly temp_id: string | null
  /** Name of the file. */
  readonly name: string
  /** Always null here. */
  readonly project_id: null
  /** Id of its owner. */
  readonly user_id: string | null
  /** For `id` of a FileDescriptor, `image_file_id` of a section, and `GET /chat/file/{file_id}`. */
  readonly file_id: string
  /** When it was uploaded. */
  readonly created_at: string
  /** Whether its text was read. */
  readonly status: FileStatus
  /** Why it is FAILED or SKIPPED. */
  readonly reason: string | null
  /** When it was last used in a chat. */
  readonly last_accessed_at: string | null
  /** Media type. */
  readonly file_type: string | null
  /** How it is given to a model. */
  readonly chat_file_type: FileKind
  /** What it takes of a prompt; null until it is read. */
  readonly token_count: number | null
  /** Into how many chunks it was split. */
  readonly chunk_count: number | null
}

export const userFileSchema: WireSchema<UserFile> = model('UserFile', {
  id: v.string(),
  temp_id: orNull(v.string()),
  name: v.string(),
  project_id: v.optional(v.null(), null),
  user_id: orNull(v.string()),
  file_id: v.string(),
  created_at: answeredTime,
  status: v.picklist(fileStatuses),
  reason: orNull(v.string()),
  last_accessed_at: orNull(answeredTime),
  file_type: orNull(v.string()),
  chat_file_type: v.picklist(fileKinds),
  token_count: orNull(integer),
  chunk_count: orNull(integer),
})

/** A file that was not taken. */
export interface RejectedFile {
  /** Name of the file. */
  readonly file_name: string
  /** What is wrong with it and what to do, for people. */
  readonly reason: string
}

/** Answer of `POST /user/projects/file/upload`: some files may be taken and others not. */
export interface UploadAnswer {
  /** The files that were taken. */
  readonly user_files: readonly UserFile[]
  /** The files that were not. */
  readonly rejected_files: readonly RejectedFile[]
}

export const uploadAnswerSchema: WireSchema<UploadAnswer> = model('UploadAnswer', {
  user_files: v.array(userFileSchema),
  rejected_files: v.array(model('RejectedFile', { file_name: v.string(), reason: v.string() })),
})

/** The form of an upload, `multipart/form-data`, for the documentation: it is read as a stream. */
export interface UploadForm {
  /** One part for each file. */
  readonly files: readonly string[]
  /** Project that the files shall belong to. */
  readonly project_id?: number
  /** JSON object that maps file names to the client's own ids. */
  readonly temp_id_map?: string
}

export const uploadFormSchema: v.GenericSchema = model('UploadForm', {
  files: v.array(v.pipe(v.string(), v.metadata({ format: 'binary' }))),
  project_id: v.optional(v.pipe(v.string(), v.metadata({ type: 'integer' }))),
  temp_id_map: v.optional(v.string()),
})

/** Body of `POST /user/projects/file/statuses`. */
export interface FileStatusesRequest {
  /** `id` of each upload. */
  readonly file_ids: readonly string[]
}

export const fileStatusesRequestSchema: WireSchema<FileStatusesRequest, FileStatusesRequest> = model(
  'FileStatusesRequest',
  {
    file_ids: v.pipe(v.array(uuid), v.maxLength(1000)),
  },
)

/** Answer of `DELETE /user/projects/file/{file_id}`: a file in use stays, and who uses it is told. */
export interface FileRemoval {
  /** True: the file was not removed, because projects or agents hold it. */
  readonly has_associations: boolean
  /** Projects that hold the file. */
  readonly project_names: readonly string[]
  /** Agents that hold the file. */
  readonly assistant_names: readonly string[]
}

export const fileRemovalSchema: WireSchema<FileRemoval> = model('FileRemoval', {
  has_associations: boolean,
  project_names: v.array(v.string()),
  assistant_names: v.array(v.string()),
})

/** One sheet of a spreadsheet. */
export interface ParsedSheet {
  /** Name of the sheet. */
  readonly name: string
  /** Its rows as CSV. */
  readonly csv: string
  /** Whether rows were left out. */
  readonly truncated: boolean
}

/** A spreadsheet as text, sheet by sheet. */
export interface ParsedSheets {
  /** The sheets, in their order. */
  readonly sheets: readonly ParsedSheet[]
}

export const parsedSheetsSchema: WireSchema<ParsedSheets> = model('ParsedSheets', {
  sheets: v.array(model('ParsedSheet', { name: v.string(), csv: v.string(), truncated: boolean })),
})

/** Reads `temp_id_map`: what is no JSON object of texts counts as absent. */
export function readTempIds(json: string): Readonly<Record<string, string>> {
  try {
    const result = v.safeParse(dictionary(text), JSON.parse(json))
    return result.success ? result.output : {}
  } catch {
    return {}
  }
}
