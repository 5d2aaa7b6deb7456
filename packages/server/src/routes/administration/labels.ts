import { InlayError, queryInteger } from '@inlay/protocol'
import { labelCreationSchema, labelUpdateSchema, personaLabelSchema } from '@inlay/protocol/administration'
import * as v from 'valibot'
import { listLabels } from '../../administration/persona-labels.ts'
import { workspaceOf } from '../../administration/workspace-of.ts'
import { routesOf, type Route, type ServerParts } from '../../http/route.ts'

const route = routesOf('Agents', { scope: 'chat', owner: 'none' })
const labelPath = v.object({ label_id: queryInteger({}) })

export const labelRoutes: readonly Route[] = [
  route('GET /persona/labels', 'listPersonaLabels', 'List labels of agents', {
    answer: { description: 'The labels, by id.', schema: v.array(personaLabelSchema) },
    handle: ({ parts }) => listLabels(parts),
  }),
  route('POST /persona/labels', 'createPersonaLabel', 'Make a label', {
    input: { body: labelCreationSchema },
    answer: { description: 'The label.', schema: personaLabelSchema },
    errors: ['VALIDATION_ERROR', 'NOT_IMPLEMENTED'],
    async handle({ body, parts }) {
      await refuseTaken(body.name, parts)
      const { id, value } = await workspaceOf(parts).add('label', { name: body.name })
      return { id, name: value.name }
    },
  }),
  route('PATCH /admin/persona/label/{label_id}', 'renamePersonaLabel', 'Rename a label', {
    scope: 'admin',
    owner: 'any',
    input: { path: labelPath, body: labelUpdateSchema },
    answer: { description: 'Renamed.', schema: v.null() },
    errors: ['VALIDATION_ERROR', 'NOT_IMPLEMENTED'],
    async handle({ path, body, parts }) {
      const workspace = workspaceOf(parts)
      if (!(await workspace.get('label', path.label_id))) throw unknownLabel()
      await refuseTaken(body.label_name, parts, path.label_id)
      await workspace.put('label', path.label_id, { name: body.label_name })
    },
  }),
  route('DELETE /admin/persona/label/{label_id}', 'deletePersonaLabel', 'Delete a label', {
    scope: 'admin',
    owner: 'any',
    answer: { description: 'It is gone.', schema: v.null() },
    input: { path: labelPath },
    errors: ['VALIDATION_ERROR', 'NOT_IMPLEMENTED'],
    async handle({ path, parts }) {
      if (!(await workspaceOf(parts).remove('label', path.label_id))) throw unknownLabel()
    },
  }),
]

async function refuseTaken(name: string, parts: ServerParts, ownId?: number): Promise<void> {
  const labels = await listLabels(parts)
  if (labels.every((label) => label.name !== name || label.id === ownId)) return
  throw new InlayError('VALIDATION_ERROR', { message: 'A label with this name already exists.' })
}

function unknownLabel(): InlayError {
  return new InlayError('VALIDATION_ERROR', { message: 'No such label.' })
}
