import { answerMatchers, assertCites, createTestInlay, type TestAnswers, type TestInlay } from 'inlay/testing'

const answers: TestAnswers = (question, { tools }) => (tools === undefined ? [question] : 'At eight [1].')

export async function citesTheHours(): Promise<TestInlay> {
  const inlay = await createTestInlay({ answers, documents: [{ sections: [{ text: 'The lab opens at eight.' }] }] })
  const answer = await inlay.ask('When does the lab open?', { caller: { id: 'ana', scopes: ['chat'] } })
  assertCites(answer, 'The lab opens at eight.')
  return answerMatchers.toSay(answer, /eight/).pass ? inlay : Promise.reject(new Error('unsaid'))
}
