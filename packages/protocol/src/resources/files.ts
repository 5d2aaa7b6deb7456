import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import type { FileKind } from '../chat/send-message.ts'
import { boolean, dictionary, integer, model, orNull, text, uuid, type WireSchema } from '../fields.ts'

/** How a file is passed to a model, based on its media type. */
export const fileKinds = ['image', 'document', 'plain_text', 'tabular'] as const

/**
 * States of an uploaded file: text being read; read; rejected with a reason; stored without reading, like spreadsheets
 * above the token limit.
 */
export const fileStatuses = ['PROCESSING', 'COMPLETED', 'FAILED', 'SKIPPED'] as const

/** One of {@link fileStatuses}. */
export type FileStatus = (typeof fileStatuses)[number]

/** An uploaded file as seen by its owner. Times are ISO 8601 with `Z`. */
export interface UserFile {
  /** Id, used in paths and as `user_file_id` of a FileDescriptor. */
  readonly id: string
  /** Client's own id; returned only by the upload. */
  readonly temp_id: string | null
  /** Name of the file. */
  readonly name: string
  /** Always null here. */
  readonly project_id: null
  /** Id of its owner. */
  readonly user_id: string | null
  /** Used for `id` of a FileDescriptor, `image_file_id` of a section, and `GET /chat/file/{file_id}`. */
  readonly file_id: string
  /** When it was uploaded. */
  readonly created_at: string
  /** Processing state of the file. */
  readonly status: FileStatus
  /** Reason for FAILED or SKIPPED. */
  readonly reason: string | null
  /** When it was last used in a chat. */
  readonly last_accessed_at: string | null
  /** Media type. */
  readonly file_type: string | null
  /** How it is passed to a model. */
  readonly chat_file_type: FileKind
  /** Number of tokens in a prompt; null until the file is read. */
  readonly token_count: number | null
  /** Number of chunks. */
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

/** A rejected file. */
export interface RejectedFile {
  /** Name of the file. */
  readonly file_name: string
  /** Why the file was rejected and how to fix it, for users. */
  readonly reason: string
}

/** Answer of `POST /user/projects/file/upload`. Some files may be accepted and others rejected. */
export interface UploadAnswer {
  /** Accepted files. */
  readonly user_files: readonly UserFile[]
  /** Rejected files. */
  readonly rejected_files: readonly RejectedFile[]
}

export const uploadAnswerSchema: WireSchema<UploadAnswer> = model('UploadAnswer', {
  user_files: v.array(userFileSchema),
  rejected_files: v.array(model('RejectedFile', { file_name: v.string(), reason: v.string() })),
})

/** Form of an upload, `multipart/form-data`. Documentation only: the body is read as a stream. */
export interface UploadForm {
  /** One part per file. */
  readonly files: readonly string[]
  /** Project the files belong to. */
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

/** Answer of `DELETE /user/projects/file/{file_id}`. A file in use is kept, and its users are listed. */
export interface FileRemoval {
  /** True: the file was kept because projects or agents use it. */
  readonly has_associations: boolean
  /** Projects that use the file. */
  readonly project_names: readonly string[]
  /** Agents that use the file. */
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
  /** Rows as CSV. */
  readonly csv: string
  /** Whether rows were omitted. */
  readonly truncated: boolean
}

/** A spreadsheet as text, sheet by sheet. */
export interface ParsedSheets {
  /** Sheets in their original order. */
  readonly sheets: readonly ParsedSheet[]
}

export const parsedSheetsSchema: WireSchema<ParsedSheets> = model('ParsedSheets', {
  sheets: v.array(model('ParsedSheet', { name: v.string(), csv: v.string(), truncated: boolean })),
})

/** Reads `temp_id_map`. Anything but a JSON object of strings is ignored. */
export function readTempIds(json: string): Readonly<Record<string, string>> {
  try {
    const result = v.safeParse(dictionary(text), JSON.parse(json))
    return result.success ? result.output : {}
  } catch {
    return {}
  }
}
