import * as v from 'valibot'
import { answeredTime } from '../timestamps.ts'
import { always, boolean, dictionary, integer, model, orNull, text, uuid, type Wire } from '../fields.ts'
import { readJson } from '../json.ts'

/** How a file is passed to a model, based on its media type. */
export const fileKinds = ['image', 'document', 'plain_text', 'tabular'] as const

/**
 * States of an uploaded file: text being read; read; rejected with a reason; stored without reading, like spreadsheets
 * above the token limit.
 */
export const fileStatuses = ['PROCESSING', 'COMPLETED', 'FAILED', 'SKIPPED'] as const

export type FileStatus = (typeof fileStatuses)[number]

export const userFileSchema = model('UserFile', {
  /** Id, used in paths and as `user_file_id` of a FileDescriptor. */
  id: v.string(),
  /** Client's own id; returned only by the upload. */
  temp_id: orNull(v.string()),
  /** Name of the file. */
  name: v.string(),
  project_id: always(null, v.optional(v.null(), null)),
  /** Id of its owner. */
  user_id: orNull(v.string()),
  /** Used for `id` of a FileDescriptor, `image_file_id` of a section, and `GET /chat/file/{file_id}`. */
  file_id: v.string(),
  /** When it was uploaded. */
  created_at: answeredTime,
  /** Processing state of the file. */
  status: v.picklist(fileStatuses),
  /** Reason for FAILED or SKIPPED. */
  reason: orNull(v.string()),
  /** When it was last used in a chat. */
  last_accessed_at: orNull(answeredTime),
  /** Media type. */
  file_type: orNull(v.string()),
  /** How it is passed to a model. */
  chat_file_type: v.picklist(fileKinds),
  /** Number of tokens in a prompt; null until the file is read. */
  token_count: orNull(integer),
  chunk_count: always(null, orNull(integer)),
})

/** An uploaded file as seen by its owner. Times are ISO 8601 with `Z`. */
export type UserFile = Wire<typeof userFileSchema>

const rejectedFileSchema = model('RejectedFile', {
  /** Name of the file. */
  file_name: v.string(),
  /** Why the file was rejected and how to fix it, for users. */
  reason: v.string(),
})

/** A rejected file. */
export type RejectedFile = Wire<typeof rejectedFileSchema>

export const uploadAnswerSchema = model('UploadAnswer', {
  /** Accepted files. */
  user_files: v.array(userFileSchema),
  /** Rejected files. */
  rejected_files: v.array(rejectedFileSchema),
})

/** Answer of `POST /user/projects/file/upload`. Some files may be accepted and others rejected. */
export type UploadAnswer = Wire<typeof uploadAnswerSchema>

/** Form of an upload, `multipart/form-data`. Documentation only: the body is read as a stream. */
export const uploadFormSchema = model('UploadForm', {
  /** One part per file. */
  files: v.array(v.pipe(v.string(), v.metadata({ format: 'binary' }))),
  /** Project the files belong to. */
  project_id: v.optional(v.pipe(v.string(), v.metadata({ type: 'integer' }))),
  /** JSON object that maps file names to the client's own ids. */
  temp_id_map: v.optional(v.string()),
})

export const fileStatusesRequestSchema = model('FileStatusesRequest', {
  /** `id` of each upload. */
  file_ids: v.pipe(v.array(uuid), v.maxLength(1000)),
})

/** Body of `POST /user/projects/file/statuses`. */
export type FileStatusesRequest = Wire<typeof fileStatusesRequestSchema>

export const fileRemovalSchema = model('FileRemoval', {
  /** True: the file was kept because projects or agents use it. */
  has_associations: boolean,
  /** Projects that use the file. */
  project_names: v.array(v.string()),
  /** Agents that use the file. */
  assistant_names: v.array(v.string()),
})

/** Answer of `DELETE /user/projects/file/{file_id}`. A file in use is kept, and its users are listed. */
export type FileRemoval = Wire<typeof fileRemovalSchema>

/** One sheet of a spreadsheet. */
const parsedSheetSchema = model('ParsedSheet', {
  /** Name of the sheet. */
  name: v.string(),
  /** Rows as CSV. */
  csv: v.string(),
  /** Whether rows were omitted. */
  truncated: boolean,
})

export const parsedSheetsSchema = model('ParsedSheets', {
  /** Sheets in their original order. */
  sheets: v.array(parsedSheetSchema),
})

/** A spreadsheet as text, sheet by sheet. */
export type ParsedSheets = Wire<typeof parsedSheetsSchema>

/** Reads `temp_id_map`. Anything but a JSON object of strings is ignored. */
export function readTempIds(json: string): Readonly<Record<string, string>> {
  const result = v.safeParse(dictionary(text), readJson(json))
  return result.success ? result.output : {}
}
