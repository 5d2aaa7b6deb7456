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
    'See the relay, `lamp.conf`, [the site](https://lamps.example/) and Relays for &lt;name>.\n\nDo not open it while it is hot.\n\nAdded in 2.1.\n\n1. First\n\n   - inner\n2. Second',
  )
})

test('numbers and letters at the beginning of a line stay as they are written', async () => {
  const text = `31. Dezember 2025 ist der letzte Tag.

A. Smith wrote this letter to us
and signed it.

B. Jones read it.

31. Dezember 2025 ist
der letzte Tag.

Steps
=====

2. Open it.
3. Wait.

10) Close it.
#) Go.

(b) In winter.

a. One

   more
b. Two

#. First
#. Second
`
  expect((await read(text)).text).toBe(
    [
      '31. Dezember 2025 ist der letzte Tag.',
      'A. Smith wrote this letter to us and signed it.',
      'B. Jones read it.',
      '31. Dezember 2025 ist der letzte Tag.',
      '# Steps',
      '2. Open it.\n3. Wait.\n10) Close it.\n11) Go.\n- (b) In winter.\n- a. One\n\n  more\n- b. Two\n1. First\n2. Second',
    ].join('\n\n'),
  )
})

test.each([
  ['See [1]_.\n\n.. [1] The fee is 40 EUR\n   per year.', 'See [1].\n\n[1] The fee is 40 EUR per year.'],
  ['``a[1]_`` of [CIT2002]_\n\n.. [CIT2002] A book.', '`a[1]_` of [CIT2002]\n\n[CIT2002] A book.'],
  ['.. math:: E = mc^2', '```\nE = mc^2\n```'],
  ['.. math::\n   :label: eq\n\n   E = mc^2', '```\nE = mc^2\n```'],
  ['.. parsed-literal:: lampd\n   --start', '```\nlampd\n--start\n```'],
  ['.. rubric:: The rules', 'The rules'],
  ['.. topic:: Fees\n\n   40 EUR.', 'Fees\n\n40 EUR.'],
  ['.. sidebar:: Fees\n   :subtitle: of 2025\n\n   40 EUR.', 'Fees\n\nof 2025\n\n40 EUR.'],
  ['.. tabs::\n\n   .. tab:: Linux\n\n      Use apt.', 'Linux\n\nUse apt.'],
  ['.. epigraph:: Light is\n   all.', 'Light is all.'],
  ['.. code-block:: bash\n   :caption: start.sh\n\n   lampd', 'start.sh\n\n```bash\nlampd\n```'],
  ['.. image:: a.png\n   :width: 3\n   :alt: The lamp\n      glows', 'The lamp glows'],
  ['.. figure:: a.png\n   :alt: A lamp\n\n   It is hot.', 'A lamp\n\nIt is hot.'],
  ['It is |the fee|, ``|the fee|``.\n\n.. |the fee| replace:: *40*\n   EUR', 'It is *40* EUR, `|the fee|`.'],
  [
    '=== ====\nFee |x|\n=== ====\n1   |y|\n=== ====\n\n.. |y| replace:: 40 EUR',
    '| Fee | x |\n| --- | --- |\n| 1 | 40 EUR |',
  ],
  ['The |logo|.\n\n.. |logo| image:: a.png\n   :alt: red lamp', 'The red lamp.'],
  [
    '.. csv-table:: Fees\n   :header: "Year", "Fee, net"\n\n   2025, "40 EUR"\n   2026, 41',
    'Fees:\n\n| Year | Fee, net |\n| --- | --- |\n| 2025 | 40 EUR |\n| 2026 | 41 |',
  ],
  ['.. table:: Fees\n\n   == ==\n   a  b\n   == ==\n   1  2\n   == ==', 'Fees\n\n| a | b |\n| --- | --- |\n| 1 | 2 |'],
])('what readers of %j see is kept', async (text, expected) => {
  expect((await read(text)).text).toBe(expected)
})

test('a long text that is used too often is refused', async () => {
  const uses = '|a| '.repeat(100_000)
  await expect(read(`${uses}\n\n.. |a| replace:: ${'x'.repeat(100_000)}`)).rejects.toMatchObject({
    data: { reason: 'too_large' },
  })
})

test('spaces are read in linear time', async () => {
  const spaces = ' '.repeat(400_000)
  const started = performance.now()
  for (const line of [`a${spaces}b::`, `:a:${spaces}b\u2028c`, `.. note::${spaces}b\u2028c`, `\`a${spaces}b <`])
    expect((await read(`x\n\n${line}\n`)).text).toContain('b')
  expect(performance.now() - started).toBeLessThan(60_000)
}, 120_000)

test('a file of marks is read in linear time', async () => {
  const started = performance.now()
  for (const mark of ['`', '|a', '..', ':a:`', '+-', '== ', '<', '**', ':: \n\n  '])
    await extract({ name: 'a.rst', bytes: utf8(`x ${mark.repeat(200_000)}`) }).catch(() => undefined)
  expect(performance.now() - started).toBeLessThan(60_000)
}, 120_000)
