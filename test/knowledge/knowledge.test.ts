import { expect, test } from 'vitest'
import { makeKnowledge, request } from './setup.ts'

test('an accepted document becomes searchable', async () => {
  const { knowledge, errors } = await makeKnowledge()
  await knowledge.start()
  await expect(knowledge.accept(request({ text: 'The heron waits.' }))).resolves.toEqual({
    documentId: 'document',
    alreadyExisted: false,
  })
  await knowledge.settled()
  const [passage] = await knowledge.search({ text: 'heron', limit: 5 })
  expect(passage).toMatchObject({ content: 'The heron waits.' })
  expect(errors).toEqual([])
})
