-- What a person does in Neovim: open, hover, jump, break, see it, take the fix. Prints a line for each.
local metalmark, root, file, log = os.getenv('METALMARK'), os.getenv('ROOT'), os.getenv('FILE'), os.getenv('LOG')
local out = assert(io.open(log, 'w'))
local function say(what, text)
  out:write(what, ': ', tostring(text), '\n')
  out:flush()
end

local function main()
  vim.cmd('edit ' .. file)
  local id = vim.lsp.start_client({ name = 'metalmark', cmd = { metalmark, 'lsp' }, root_dir = root })
  assert(vim.lsp.buf_attach_client(0, id))
  local function request(method, params)
    local answers = assert(vim.lsp.buf_request_sync(0, method, params, 60000))
    return assert(answers[id], method).result
  end
  local function at(text, within)
    for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, true)) do
      local column = line:find(text, 1, true)
      if column then
        vim.api.nvim_win_set_cursor(0, { number, column + within })
        return vim.lsp.util.make_position_params()
      end
    end
    error(text .. ' is not there')
  end
  -- The client is ready when it answers.
  vim.wait(60000, function() return vim.lsp.get_client_by_id(id) and vim.lsp.get_client_by_id(id).initialized end, 50)
  local key = 'image_key: opensuse-15-6-hardened-rke2-1-31-8'
  local hover = request('textDocument/hover', at(key, 14))
  say('hover', hover.contents.value:match('edge%-paris/storage boots [^\n]*'))
  local places = request('textDocument/definition', at(key, 14))
  say('definition', places[1].uri:match('[^/]*/[^/]*$') .. ':' .. places[1].range.start.line + 1)
  vim.cmd([[%s/opensuse-15-6-hardened-rke2-1-31-8/ubuntu-noble-hardened-rke2-1-30-12/]])
  vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 50)
  local found = vim.diagnostic.get(0)[1]
  say('found', found and (found.code .. ' in line ' .. found.lnum + 1))
  local params = at('ubuntu-noble-hardened', 3)
  params = { textDocument = params.textDocument, context = { diagnostics = {} },
    range = { start = params.position, ['end'] = params.position } }
  for _, action in ipairs(request('textDocument/codeAction', params)) do
    if action.isPreferred then
      say('action', action.title)
      vim.lsp.util.apply_workspace_edit(action.edit, vim.lsp.get_client_by_id(id).offset_encoding)
    end
  end
  vim.wait(60000, function() return #vim.diagnostic.get(0) == 0 end, 50)
  say('left', #vim.diagnostic.get(0))
  say('line', vim.api.nvim_buf_get_lines(0, 22, 23, true)[1])
end

local ok, message = pcall(main)
say('ended', ok and 'well' or message)
out:close()
vim.cmd('qall!')
