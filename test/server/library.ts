import { makeKnowledge, type TestKnowledge } from '../knowledge/setup.ts'
import { setup, type Setup } from './fakes.ts'

/** A server over a real knowledge in memory, started. */
export interface Library extends Omit<Setup, 'knowledge'>, TestKnowledge {
  /** Calls as administrator by default, and reads the answer. */
  call(path: string, init?: Parameters<Setup['ask']>[1]): Promise<{ status: number; body: unknown; headers: Headers }>
}

/** Makes one; closed with the test. */
export async function makeLibrary(options: Parameters<typeof makeKnowledge>[0] = {}): Promise<Library> {
  const fixture = await makeKnowledge(options)
  await fixture.knowledge.start()
  const served = setup({ knowledge: fixture.knowledge })
  return {
    ...served,
    ...fixture,
    call: async (path, init) => {
      const response = await served.ask(path, { key: 'key-operator', ...init })
      return { status: response.status, body: await response.json(), headers: response.headers }
    },
  }
}
