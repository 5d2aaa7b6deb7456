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
  type ProjectDetails,
  type ProjectInstructions,
} from '@inlay/protocol'
import * as v from 'valibot'
import { reply, type Reply } from '../../http/replies.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { toUserFile } from './files.ts'
import { projectFileRoutes } from './project-files.ts'
import { toSummary } from './sessions.ts'

const topic = 'Projects'
const projectPath = v.object({ project_id: queryInteger({}) })
const noBody = (): Reply => reply(null, { status: 204 })

/** Projects themselves. */
const recordRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/user/projects',
    operationId: 'listProjects',
    scope: 'chat',
    owner: 'caller',
    topic,
    summary: 'List projects',
    description: 'Own projects with their chats, newest first.',
    answer: { description: 'The projects.', schema: v.array(projectSchema) },
    async handle({ caller, parts }): Promise<Project[]> {
      return (await parts.agent.projects.list(caller)).map(toProject)
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/user/projects/create',
    operationId: 'createProject',
    scope: 'chat',
    owner: 'caller',
    topic,
    summary: 'Make a project',
    description: 'The name, 1 to 255 characters, stands in the query.',
    input: { query: projectCreationSchema },
    answer: { description: 'The project.', schema: projectSchema },
    errors: ['INVALID_INPUT'],
    async handle({ query, caller, parts }): Promise<Project> {
      return toProject(await parts.agent.projects.create(query.name, caller))
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/user/projects/{project_id}',
    operationId: 'getProject',
    scope: 'chat',
    owner: 'caller',
    topic,
    summary: 'One project',
    input: { path: projectPath },
    answer: { description: 'The project.', schema: projectSchema },
    errors: ['NOT_FOUND'],
    async handle({ path, caller, parts }): Promise<Project> {
      return toProject(await parts.agent.projects.get(path.project_id, caller))
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: '/user/projects/{project_id}',
    operationId: 'updateProject',
    scope: 'chat',
    owner: 'caller',
    topic,
    summary: 'Rename or describe a project',
    input: { path: projectPath, body: { kind: 'json', schema: projectUpdateSchema, limit: 'otherBytes' } },
    answer: { description: 'The project.', schema: projectSchema },
    errors: ['NOT_FOUND', 'INVALID_INPUT'],
    async handle({ path, body, caller, parts }): Promise<Project> {
      const change = {
        ...(body.name === null ? {} : { name: body.name }),
        ...(body.description === null ? {} : { description: body.description }),
      }
      return toProject(await parts.agent.projects.update(path.project_id, change, caller))
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/user/projects/{project_id}',
    operationId: 'deleteProject',
    scope: 'chat',
    owner: 'caller',
    topic,
    summary: 'Remove a project',
    description: 'Its chats and files stay, outside of it.',
    input: { path: projectPath },
    answer: { description: 'It is gone.', status: 204 },
    errors: ['NOT_FOUND'],
    async handle({ path, caller, parts }) {
      await parts.agent.projects.remove(path.project_id, caller)
      return noBody()
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/user/projects/{project_id}/details',
    operationId: 'getProjectDetails',
    scope: 'chat',
    owner: 'caller',
    topic,
    summary: 'One project with its files',
    input: { path: projectPath },
    answer: {
      description: 'The project, its files, and which of its agents are featured.',
      schema: projectDetailsSchema,
    },
    errors: ['NOT_FOUND'],
    async handle({ path, caller, parts }): Promise<ProjectDetails> {
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
]

/** What a project's chats are told. */
const instructionRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/user/projects/{project_id}/instructions',
    operationId: 'getProjectInstructions',
    scope: 'chat',
    owner: 'caller',
    topic,
    summary: 'What chats are told',
    input: { path: projectPath },
    answer: { description: 'The instructions.', schema: projectInstructionsSchema },
    errors: ['NOT_FOUND'],
    async handle({ path, caller, parts }): Promise<ProjectInstructions> {
      return { instructions: (await parts.agent.projects.get(path.project_id, caller)).instructions }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/user/projects/{project_id}/instructions',
    operationId: 'setProjectInstructions',
    scope: 'chat',
    owner: 'caller',
    topic,
    summary: 'Tell chats something',
    description: 'Stands before each message of the chats in the project that have no agent of their own.',
    input: { path: projectPath, body: { kind: 'json', schema: projectInstructionsSchema, limit: 'otherBytes' } },
    answer: { description: 'The instructions.', schema: projectInstructionsSchema },
    errors: ['NOT_FOUND'],
    async handle({ path, body, caller, parts }): Promise<ProjectInstructions> {
      const { instructions } = await parts.agent.projects.update(path.project_id, body, caller)
      return { instructions }
    },
  }),
]

/** Moving chats. */
const sessionRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/user/projects/{project_id}/move_chat_session',
    operationId: 'moveSessionIntoProject',
    scope: 'chat',
    owner: 'caller',
    topic,
    summary: 'Move a chat into a project',
    input: { path: projectPath, body: { kind: 'json', schema: sessionMoveSchema, limit: 'otherBytes' } },
    answer: { description: 'It is in the project.', status: 204 },
    errors: ['NOT_FOUND', 'SESSION_NOT_FOUND'],
    async handle({ path, body, caller, parts }) {
      await parts.agent.projects.moveSession(body.chat_session_id, path.project_id, caller)
      return noBody()
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/user/projects/remove_chat_session',
    operationId: 'takeSessionOutOfProject',
    scope: 'chat',
    owner: 'caller',
    topic,
    summary: 'Take a chat out of its project',
    input: { body: { kind: 'json', schema: sessionMoveSchema, limit: 'otherBytes' } },
    answer: { description: 'It is in no project.', status: 204 },
    errors: ['SESSION_NOT_FOUND'],
    async handle({ body, caller, parts }) {
      await parts.agent.projects.moveSession(body.chat_session_id, null, caller)
      return noBody()
    },
  }),
]

/** Projects: files and instructions for some chats. */
export const projectRoutes: readonly Route[] = [
  ...recordRoutes,
  ...instructionRoutes,
  ...projectFileRoutes,
  ...sessionRoutes,
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
