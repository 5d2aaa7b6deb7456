import type { ProjectWithSessions } from '@inlay/conversations'
import {
  projectCreationSchema,
  projectDetailsSchema,
  projectInstructionsSchema,
  projectSchema,
  projectUpdateSchema,
  queryInteger,
  sessionMoveSchema,
  toUserId,
  type Project,
} from '@inlay/protocol'
import * as v from 'valibot'
import { routesOf, type Route } from '../../http/route.ts'
import { toUserFile } from './files.ts'
import { projectFileRoutes } from './project-files.ts'
import { toSummary } from './sessions.ts'

const route = routesOf('Projects', { scope: 'chat', owner: 'caller' })
const projectPath = v.object({ project_id: queryInteger({}) })

export const projectRoutes: readonly Route[] = [
  route('GET /user/projects', 'listProjects', 'List projects', {
    description: 'Lists the caller’s projects with their chats, newest first.',
    answer: { description: 'The projects.', schema: v.array(projectSchema) },
    handle: async ({ caller, parts }) => (await parts.agent.projects.list(caller)).map(toProject),
  }),
  route('POST /user/projects/create', 'createProject', 'Make a project', {
    description: 'The query contains the name, 1 to 255 characters.',
    input: { query: projectCreationSchema },
    answer: { description: 'The project.', schema: projectSchema },
    errors: ['INVALID_INPUT'],
    handle: async ({ query, caller, parts }) => toProject(await parts.agent.projects.create(query.name, caller)),
  }),
  route('GET /user/projects/{project_id}', 'getProject', 'One project', {
    input: { path: projectPath },
    answer: { description: 'The project.', schema: projectSchema },
    errors: ['NOT_FOUND'],
    handle: async ({ path, caller, parts }) => toProject(await parts.agent.projects.get(path.project_id, caller)),
  }),
  route('PATCH /user/projects/{project_id}', 'updateProject', 'Rename or describe a project', {
    input: { path: projectPath, body: projectUpdateSchema },
    answer: { description: 'The project.', schema: projectSchema },
    errors: ['NOT_FOUND', 'INVALID_INPUT'],
    async handle({ path, body, caller, parts }) {
      const change = {
        ...(body.name === null ? {} : { name: body.name }),
        ...(body.description === null ? {} : { description: body.description }),
      }
      return toProject(await parts.agent.projects.update(path.project_id, change, caller))
    },
  }),
  route('DELETE /user/projects/{project_id}', 'deleteProject', 'Remove a project', {
    description: 'Its chats and files are kept outside of any project.',
    input: { path: projectPath },
    answer: { description: 'It is gone.', status: 204 },
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: ({ path, caller, parts }) => parts.agent.projects.remove(path.project_id, caller),
  }),
  route('GET /user/projects/{project_id}/details', 'getProjectDetails', 'Get a project with its files', {
    input: { path: projectPath },
    answer: {
      description: 'The project, its files, and which of its agents are featured.',
      schema: projectDetailsSchema,
    },
    errors: ['NOT_FOUND'],
    async handle({ path, caller, parts }) {
      const { agent } = parts
      const project = await agent.projects.get(path.project_id, caller)
      const files = await agent.projects.files(path.project_id, caller)
      const ids = [...new Set(project.sessions.map(({ personaId }) => personaId))]
      const personas = await agent.personas.list(caller, { ids, includeDeleted: true })
      return {
        project: toProject(project),
        files: files.map((file) => toUserFile(file)),
        persona_id_to_is_featured: Object.fromEntries(personas.map(({ id, isFeatured }) => [String(id), isFeatured])),
      }
    },
  }),
  route('GET /user/projects/{project_id}/instructions', 'getProjectInstructions', 'Get project instructions', {
    input: { path: projectPath },
    answer: { description: 'The instructions.', schema: projectInstructionsSchema },
    errors: ['NOT_FOUND'],
    async handle({ path, caller, parts }) {
      return { instructions: (await parts.agent.projects.get(path.project_id, caller)).instructions }
    },
  }),
  route('POST /user/projects/{project_id}/instructions', 'setProjectInstructions', 'Set project instructions', {
    description: 'Added to each message in chats of the project that have no custom agent.',
    input: { path: projectPath, body: projectInstructionsSchema },
    answer: { description: 'The instructions.', schema: projectInstructionsSchema },
    errors: ['NOT_FOUND'],
    async handle({ path, body, caller, parts }) {
      const { instructions } = await parts.agent.projects.update(path.project_id, body, caller)
      return { instructions }
    },
  }),
  ...projectFileRoutes,
  route('POST /user/projects/{project_id}/move_chat_session', 'moveSessionIntoProject', 'Move a chat into a project', {
    input: { path: projectPath, body: sessionMoveSchema },
    answer: { description: 'The session is in the project.', status: 204 },
    errors: ['NOT_FOUND', 'SESSION_NOT_FOUND'],
    handle: ({ path, body, caller, parts }) =>
      parts.agent.projects.moveSession(body.chat_session_id, path.project_id, caller),
  }),
  route('POST /user/projects/remove_chat_session', 'takeSessionOutOfProject', 'Remove a chat from its project', {
    input: { body: sessionMoveSchema },
    answer: { description: 'The session is in no project.', status: 204 },
    errors: ['SESSION_NOT_FOUND'],
    handle: ({ body, caller, parts }) => parts.agent.projects.moveSession(body.chat_session_id, null, caller),
  }),
]

function toProject(project: ProjectWithSessions): Project {
  return {
    id: project.id,
    name: project.name,
    description: project.description === '' ? null : project.description,
    created_at: new Date(project.createdAt).toISOString(),
    user_id: toUserId(project.ownerId),
    instructions: project.instructions,
    chat_sessions: project.sessions.map(toSummary),
  }
}
