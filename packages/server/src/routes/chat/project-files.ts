import { queryInteger, tokenTotalSchema, userFileSchema, uuid, type TokenTotal } from '@inlay/protocol'
import * as v from 'valibot'
import { routesOf, type Route } from '../../http/route.ts'
import { toUserFile } from './files.ts'

const route = routesOf('Projects', { scope: 'chat', owner: 'caller' })
const projectPath = v.object({ project_id: queryInteger({}) })
const linkPath = v.object({ project_id: queryInteger({}), file_id: uuid })
const sessionPath = v.object({ session_id: uuid })

export const projectFileRoutes: readonly Route[] = [
  route('GET /user/projects/files/{project_id}', 'listProjectFiles', 'List files of a project', {
    input: { path: projectPath },
    answer: { description: 'The files, in the order they were linked.', schema: v.array(userFileSchema) },
    errors: ['NOT_FOUND'],
    async handle({ path, caller, parts }) {
      return (await parts.agent.projects.files(path.project_id, caller)).map((file) => toUserFile(file))
    },
  }),
  route('POST /user/projects/{project_id}/files/{file_id}', 'linkFile', 'Add a file to a project', {
    input: { path: linkPath },
    answer: { description: 'The file.', schema: userFileSchema },
    errors: ['NOT_FOUND'],
    async handle({ path, caller, parts }) {
      return toUserFile(await parts.agent.projects.link(path.project_id, path.file_id, caller))
    },
  }),
  route('DELETE /user/projects/{project_id}/files/{file_id}', 'unlinkFile', 'Remove a file from a project', {
    description: 'The file itself is kept.',
    input: { path: linkPath },
    answer: { description: 'The file is not in the project.', status: 204 },
    errors: ['NOT_FOUND'],
    handle: ({ path, caller, parts }) => parts.agent.projects.unlink(path.project_id, path.file_id, caller),
  }),
  route('GET /user/projects/{project_id}/token-count', 'countProjectTokens', 'Get the token count of project files', {
    input: { path: projectPath },
    answer: { description: 'Tokens, estimated.', schema: tokenTotalSchema },
    errors: ['NOT_FOUND'],
    handle: async ({ path, caller, parts }) => toTotal(await parts.agent.projects.files(path.project_id, caller)),
  }),
  route('GET /user/projects/session/{session_id}/files', 'listSessionFiles', "List files of a chat's project", {
    input: { path: sessionPath },
    answer: { description: 'The files; none outside of projects.', schema: v.array(userFileSchema) },
    errors: ['SESSION_NOT_FOUND'],
    async handle({ path, caller, parts }) {
      return (await parts.agent.projects.sessionFiles(path.session_id, caller)).map((file) => toUserFile(file))
    },
  }),
  route(
    'GET /user/projects/session/{session_id}/token-count',
    'countSessionTokens',
    "Get the token count of a chat's project files",
    {
      input: { path: sessionPath },
      answer: { description: 'Tokens, estimated.', schema: tokenTotalSchema },
      errors: ['SESSION_NOT_FOUND'],
      async handle({ path, caller, parts }) {
        return toTotal(await parts.agent.projects.sessionFiles(path.session_id, caller))
      },
    },
  ),
]

function toTotal(files: readonly { readonly tokens: number | null }[]): TokenTotal {
  return { total_tokens: files.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0) }
}
