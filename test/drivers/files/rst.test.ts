import { fileExtractor } from '@inlay/drivers/file-extraction'
import { afterAll, expect, test } from 'vitest'
import { utf8 } from './samples.ts'

const extract = fileExtractor()
afterAll(() => extract.close())

const read = async (text: string) => {
  const { title, mediaType, sections } = await extract({ name: 'guide.rst', bytes: utf8(text) })
  return { title, mediaType, text: sections.map((section) => section.text).join('\n\n') }
}

test('underlined headings become headings by the order of their marks, the first the title', async () => {
  const guide = `.. _guide:

=========
The Guide
=========

Lines of one
paragraph.

Set-up
~~~~~~

Before it.

\`\`lamp\`\` lights
--------------

Very deep.

Use
~~~

The end.
`
  expect(await read(guide)).toEqual({
    title: 'The Guide',
    mediaType: 'text/x-rst',
    text: '# The Guide\n\nLines of one paragraph.\n\n## Set-up\n\nBefore it.\n\n### `lamp` lights\n\nVery deep.\n\n## Use\n\nThe end.',
  })
})

test('code keeps its lines and its language, comments and tables of contents go', async () => {
  const text = `Write this::

    if a:
        b()

Then run it:

.. code-block:: bash
   :linenos:

   lampd --start

.. contents:: Here
   :depth: 2

.. This is a comment
   of two lines.

>>> 1 + 1
2
`
  expect((await read(text)).text).toBe(
    'Write this:\n\n```\nif a:\n    b()\n```\n\nThen run it:\n\n```bash\nlampd --start\n```\n\n```python\n>>> 1 + 1\n2\n```',
  )
})

test('definitions and options are items, a setting of several paragraphs gets a heading', async () => {
  const text = `Settings
========

relay
  Passes lamps on
  to others.

lampctl stop <name>

   Stops a lamp.

\`\`timeout\`\`

  How long to wait.

  *Default*: 10

.. option:: -f FILE

   Reads \`\`FILE\`\`.

:Author: Ann
`
  expect((await read(text)).text).toBe(
    '# Settings\n\n- **relay**: Passes lamps on to others.\n- **`lampctl stop <name>`**: Stops a lamp.\n\n## `timeout`\n\nHow long to wait.\n\n*Default*: 10\n\n- **-f FILE**: Reads `FILE`.\n- **Author**: Ann',
  )
})

test('a question of a list of questions gets a heading', async () => {
  expect((await read('Q\n  Why is it\n  dark?\n\nA\n  The lamp is off.\n')).text).toBe(
    '# Why is it dark?\n\nThe lamp is off.',
  )
})

test('tables of each kind become tables', async () => {
  const grid = `+-------+-----------+
| Lamp  | Price     |
+=======+===========+
| Small | 10 euros  |
|       | or less   |
+-------+-----------+
| Large | 20 euros  |
+-------+-----------+`
  const simple = `=====  ========
Lamp   Price
=====  ========
Small  10 euros
Large  20 euros
=====  ========`
  const listed = `.. list-table::
   :header-rows: 1

   * - Lamp
     - Price
   * - Small
     - 10
       euros`
  const rows = (small: string): string => `| Lamp | Price |\n| --- | --- |\n| Small | ${small} |`
  expect((await read(`${grid}\n\n${simple}\n\n${listed}\n`)).text).toBe(
    `${rows('10 euros or less')}\n| Large | 20 euros |\n\n${rows('10 euros')}\n| Large | 20 euros |\n\n${rows('10 euros')}`,
  )
})

test('roles, links and notes read as prose, lists keep their nesting', async () => {
  const text = `See :ref:\`the relay <relay>\`, :file:\`lamp.conf\`, \`the site <https://lamps.example/>\`_ and
\`Relays\`_ for <name>.

.. warning:: Do not open it
   while it is hot.

.. versionadded:: 2.1

#. First

   * inner
#. Second
`
  expect((await read(text)).text).toBe(
    'See the relay, `lamp.conf`, [the site](https://lamps.example/) and Relays for &lt;name>.\n\nDo not open it while it is hot.\n\nAdded in 2.1.\n\n1. First\n\n   - inner\n1. Second',
  )
})

test('a file of marks is read in linear time', async () => {
  const started = performance.now()
  for (const mark of ['`', '|a', '..', ':a:`', '+-', '== ', '<', '**', ':: \n\n  '])
    await extract({ name: 'a.rst', bytes: utf8(`x ${mark.repeat(200_000)}`) }).catch(() => undefined)
  expect(performance.now() - started).toBeLessThan(60_000)
}, 120_000)
