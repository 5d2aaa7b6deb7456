import { expect, test } from 'vitest'
import { request, section, startKnowledge } from '../setup.ts'

const words = (name: string): string => Array.from({ length: 320 }, (_, at) => `${name}${at}`).join(' ')

test('a document is read from its first chunk to its last, whatever their links', async () => {
  const { knowledge } = await startKnowledge()
  const sections = ['alpha', 'beta', 'gamma'].map((name) => section(words(name), `https://x.example/${name}`))
  await knowledge.accept(request({ id: 'doc', semantic_identifier: 'Letters', sections }), { waitMs: 60_000 })
  const texts: string[] = []
  const links = new Set<string | null>()
  for (let first: number | null = 0; first !== null;) {
    const read = await knowledge.chunks({ documentId: 'doc', first, limit: 2 })
    expect(read).toMatchObject({ semanticIdentifier: 'Letters' })
    expect(read!.chunks.length).toBeLessThanOrEqual(2)
    for (const chunk of read!.chunks) {
      expect(chunk.position).toBe(texts.length)
      texts.push(chunk.text)
      links.add(chunk.link)
    }
    first = read!.next
  }
  expect(texts.join(' ')).toMatch(/^alpha0 .*alpha319.*beta0 .*gamma319$/s)
  expect(links.size).toBe(3)
  expect(await knowledge.chunks({ documentId: 'doc', first: texts.length, limit: 2 })).toBeUndefined()
})

test('a code block that was split is shown without the fences that splitting added', async () => {
  const { knowledge } = await startKnowledge()
  const code = Array.from({ length: 600 }, (_, at) => `const value${at} = compute(${at})`).join('\n')
  const sections = [section(`# Code\n\n\`\`\`js\n${code}\n\`\`\``, '')]
  await knowledge.accept(request({ id: 'doc', sections }), { waitMs: 60_000 })
  const read = await knowledge.chunks({ documentId: 'doc', first: 0, limit: 64 })
  expect(read!.chunks.length).toBeGreaterThan(1)
  const whole = read!.chunks.map(({ text, separator }, at) => (at === 0 ? text : separator + text)).join('')
  expect(whole).toContain(`\`\`\`js\n${code}\n\`\`\``)
})
