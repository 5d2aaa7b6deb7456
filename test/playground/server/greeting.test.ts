import { expect, test } from 'vitest'
import { greeting } from '../../../playground/server/greeting.ts'

const facts = {
  origin: 'http://127.0.0.1:3000',
  basePath: '/api',
  key: 'inlay_secret',
  fragment: '#open=token',
  model: 'Built-in extractive model: quotes your documents; no AI provider configured',
  dataFolder: '/home/me/inlay/.inlay',
  isOpen: false,
}
const text = greeting(facts)

test('it names address, key, model and data folder', () => {
  expect(text).toContain('http://127.0.0.1:3000/#open=token')
  expect(text).toMatch(/Key +inlay_secret/)
  expect(text).toMatch(/Model +Built-in extractive model/)
  expect(text).toContain('/home/me/inlay/.inlay')
})

test('it gives three curl lines, each whole in one line with a body that is JSON', () => {
  const lines = text.match(/^ *curl .+$/gm) ?? []
  expect(lines).toHaveLength(3)
  const bodies = lines.map((line) => JSON.parse(/ -d '(.+)'$/.exec(line)?.[1] ?? ''))
  expect(bodies[0].stream).toBeUndefined()
  expect(bodies[1].stream).toBe(false)
  expect(bodies[2].document.sections).toHaveLength(1)
  for (const line of lines) expect(line).toContain("-H 'Authorization: Bearer inlay_secret'")
})

test('it says so when other machines can reach the server', () => {
  expect(text).not.toContain('other machines')
  expect(greeting({ ...facts, isOpen: true })).toContain('other machines can reach')
})
